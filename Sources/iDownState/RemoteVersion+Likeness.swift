// SPDX-License-Identifier: Apache-2.0

/// How the version that an answer carries stands to the one that the bytes on disk belong to.
package enum Likeness: Hashable, Sendable {
    /// The same strong validator, and nothing that speaks against it.
    case same
    /// Nothing speaks against it, and nothing proves it: the bytes must (``OverlapProof``).
    case unproven
    /// Another file.
    case changed
}

extension RemoteVersion {
    /// Judges whether `other` may be this version.
    ///
    /// Tags that differ do not make it another one: hosts of one network give the same file
    /// different tags, and some give every response a new one. A date that differs does, unless it
    /// comes from another URL. A body of unknown length is only recognised by a strong validator:
    /// nobody could tell where a proof would end.
    package func likeness(of other: RemoteVersion) -> Likeness {
        guard total == other.total || (other.total == nil && total != nil) else { return .changed }
        if isContradicted(by: other.checksum) { return .changed }
        if !needsProof {
            if isSame(as: other) { return .same }
            if isContradicted(by: other.lastModified) { return .changed }
        }
        return total == nil || other.total == nil ? .changed : .unproven
    }

    /// What is known once this version's bytes turned out to be those of `other`.
    func proven(as other: RemoteVersion) -> RemoteVersion {
        var version = other
        version.total = total
        version.checksum = other.checksum ?? checksum
        version.needsProof = false
        version.restsOnProof = true
        if version.mimeType.isEmpty { version.mimeType = mimeType }
        return version
    }
}

extension ResponseFacts {
    /// Whether this is what a server says in place of the file, the link having expired: a page
    /// or a message, where bytes of another type were recorded.
    package func standsInForFile(of known: RemoteVersion, onDisk: SegmentMap) -> Bool {
        !onDisk.isEmpty && Self.messages.contains(mimeType)
            && !Self.messages.contains(known.mimeType)
    }

    /// What servers speak to people and programs in.
    private static let messages: Set<String> = [
        "text/html", "application/xhtml+xml", "text/plain", "application/json",
        "application/problem+json", "text/xml", "application/xml",
    ]
}

extension Failure {
    /// A page in place of the file.
    package static var linkExpired: Failure {
        Failure(
            .serverForbidden,
            "the server brings a page in place of the file: the link has expired"
        )
    }
}
