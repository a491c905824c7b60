// SPDX-License-Identifier: Apache-2.0

import iDownState

/// Tells files whose own compression a server names as their Content-Encoding.
///
/// To decode them would spoil them. Browsers do the same for gzip.
enum CompressedFile {
    /// Tells it by the media type, or by what the file is called or will be.
    ///
    /// - Parameters:
    ///   - codings: what Content-Encoding says; more than one are never the file's own.
    ///   - mimeType: in small letters, empty where the server gives none.
    ///   - name: the file's.
    /// - Returns: whether the bytes are to be stored as they come.
    static func isMeant(by codings: [ContentCoding], mimeType: String, name: String) -> Bool {
        guard codings.count == 1, let coding = codings.first else { return false }
        let (types, endings): (Set<String>, [String]) =
            switch coding {
            case .gzip: (gzipTypes, [".gz", ".tgz", ".svgz"])
            case .brotli: ([], [".br"])
            case .zstd: (["application/zstd"], [".zst", ".tzst"])
            case .deflate: ([], [])
            }
        let name = name.lowercased()
        return types.contains(mimeType) || endings.contains { name.hasSuffix($0) }
    }

    private static let gzipTypes: Set<String> = [
        "application/gzip", "application/x-gzip", "application/x-gunzip", "application/x-tgz",
        "application/x-compressed-tar",
    ]
}
