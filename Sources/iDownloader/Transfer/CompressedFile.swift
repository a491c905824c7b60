// SPDX-License-Identifier: Apache-2.0

import iDownState

/// Recognises files whose own compression a server announces as Content-Encoding.
///
/// Decoding would spoil such a file. Browsers treat gzip in the same way.
enum CompressedFile {
    /// Judges by the media type, or by the file's name.
    ///
    /// - Parameters:
    ///   - codings: the codings in Content-Encoding; more than one are never the file's own.
    ///   - mimeType: in small letters; empty if the server gives none.
    ///   - name: the file's present or future name.
    /// - Returns: whether the bytes are stored without decoding.
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
