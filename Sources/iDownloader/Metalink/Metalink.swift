// SPDX-License-Identifier: Apache-2.0

package import iDownState

/// A list of files with their mirrors, sizes and digests: RFC 5854, or version 3 as it was before.
package struct Metalink: Hashable, Sendable {
    package struct File: Hashable, Sendable {
        /// A safe name, one path element; nil where the document's gives none.
        ///
        /// Folders in it are left out: RFC 5854 section 4.1.2.1 allows that, and a document from
        /// anywhere then makes no folders in the user's.
        package var name: String?
        /// Bytes.
        package var size: Int64?
        /// The strongest digest of the whole file.
        package var checksum: Checksum?
        package var pieces: PieceHashes?
        /// In normal form, the best first; never empty.
        package var urls: [String]
    }

    /// Those that have a URL that can be downloaded; never empty.
    package let files: [File]
    /// The names, as the document gives them, of the files that have none.
    package let leftOut: [String]

    /// The longest document, in bytes: 10 MB.
    package static let longestDocument: Int64 = 10 << 20
    static let mostFiles = 10_000
    /// Of one file in the document.
    static let mostURLs = 1000
    /// Of one file that are kept: a task's own URL and its mirrors.
    static let mostKeptURLs = 101

    /// Whether a file is a metalink, by its type or its name.
    package static func isMeant(mimeType: String, name: String) -> Bool {
        let name = name.lowercased()
        return mimeType == "application/metalink4+xml" || mimeType == "application/metalink+xml"
            || name.hasSuffix(".meta4") || name.hasSuffix(".metalink")
    }
}

/// Why a document is no metalink that can be used.
package struct MetalinkFault: Error, Hashable, Sendable {
    /// Goes on after "the metalink".
    package let message: String

    init(_ message: String) { self.message = message }
}
