// SPDX-License-Identifier: Apache-2.0

/// Tells files that are themselves compressed: for them a Content-Encoding says nothing new, and
/// to decode it would spoil the file (browsers do the same).
enum CompressedFile {
    private static let types: Set<String> = [
        "application/gzip", "application/x-gzip", "application/x-gunzip", "application/x-tgz",
        "application/zip", "application/zstd", "application/x-xz", "application/x-bzip2",
        "application/x-compress", "application/x-compressed-tar",
    ]

    private static let endings = [
        ".gz", ".tgz", ".svgz", ".z", ".br", ".zst", ".xz", ".bz2", ".zip",
    ]

    static func isMeant(mimeType: String, urlPath: String) -> Bool {
        if types.contains(mimeType) { return true }
        let path = urlPath.lowercased()
        return endings.contains { path.hasSuffix($0) }
    }
}
