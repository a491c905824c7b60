// SPDX-License-Identifier: Apache-2.0

package import iDownState

/// A list of files with their mirrors, sizes and digests: RFC 5854 (version 4), or its predecessor,
/// version 3.
package struct Metalink: Hashable, Sendable {
    package struct File: Hashable, Sendable {
        /// A safe name of one path element; nil if the document gives no usable one.
        ///
        /// Folders in the name are left out, as RFC 5854 section 4.1.2.1 allows, so that a metalink
        /// cannot make folders.
        package var name: String?
        /// The size in bytes; nil if unknown.
        package var size: Int64?
        /// The strongest digest of the whole file; nil if unknown.
        package var checksum: Checksum?
        package var pieces: PieceHashes?
        /// The normalized URLs, the preferred one first; never empty.
        package var urls: [String]
    }

    /// The files with a URL that idown can download; never empty.
    package let files: [File]
    /// The names, as in the document, of the files without such a URL.
    package let leftOut: [String]

    /// The most bytes of a document: 10 MiB.
    package static let longestDocument: Int64 = 10 << 20
    static let mostFiles = 10_000
    /// The most URLs of one file in the document.
    static let mostURLs = 1000
    /// The most URLs of one file that are kept: the task's own URL and its mirrors.
    static let mostKeptURLs = 101
    /// The most bytes of these URLs: 1 MiB.
    static let mostKeptBytes = 1 << 20

    /// Whether a file is a metalink by its media type or its name.
    package static func isMeant(mimeType: String, name: String) -> Bool {
        let name = name.lowercased()
        return mimeType == "application/metalink4+xml" || mimeType == "application/metalink+xml"
            || name.hasSuffix(".meta4") || name.hasSuffix(".metalink")
    }
}

/// Why a document is no usable metalink.
package struct MetalinkFault: Error, Hashable, Sendable {
    /// The rest of a sentence that begins with "the metalink".
    package let message: String

    init(_ message: String) { self.message = message }
}
