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

    /// Tells it by the media type, or by what the file is called or will be.
    static func isMeant(mimeType: String, name: String) -> Bool {
        if types.contains(mimeType) { return true }
        let name = name.lowercased()
        return endings.contains { name.hasSuffix($0) }
    }
}
