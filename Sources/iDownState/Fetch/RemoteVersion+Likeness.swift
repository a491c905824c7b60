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
    /// A date that differs makes it another version, unless it comes from another URL. What another
    /// tag makes of it depends on who gave both (``TagEvidence``), and equal validators are of one
    /// version only where one host gave both (RFC 9110 section 8.8.3): many a host makes its tags of
    /// size and time. A file of unknown length is only recognised by a strong validator: nobody
    /// could tell where a proof would end.
    ///
    /// - Parameters:
    ///   - other: the version that an answer carries.
    ///   - otherTag: what a tag means that differs from this version's.
    ///   - isOfSameHost: whether both have their validators from one host.
    /// - Returns: how `other` stands to this version.
    package func likeness(
        of other: RemoteVersion,
        otherTag: TagMeaning,
        isOfSameHost: Bool = true
    ) -> Likeness {
        guard total == other.total || (other.total == nil && total != nil) else { return .changed }
        if isContradicted(by: other.checksum) { return .changed }
        if !needsProof {
            if isSame(as: other) {
                return isOfSameHost ? .same : total == nil ? .changed : .unproven
            }
            if isContradicted(by: other.lastModified) { return .changed }
            if otherTag == .anotherFile, hasAnotherTag(than: other) { return .changed }
        }
        return total == nil ? .changed : .unproven
    }

    /// Whether a head of another time may be of the same file; a date alone makes no other one, since
    /// scripts give the time of day.
    func mayBeFile(of other: RemoteVersion) -> Bool {
        var dateless = self
        dateless.lastModified = nil
        return !dateless.isContradicted(by: other)
    }

    /// What is known once this version's bytes turned out to be those of `other`.
    func proven(as other: RemoteVersion) -> RemoteVersion {
        var version = other
        version.total = total
        version.checksum = other.checksum ?? checksum
        version.needsProof = false
        version.restsOnProof = true
        // Text is what servers call bytes of any kind: it says less than a type that is on record.
        let saysLess = version.mimeType.isEmpty || SpokenTypes.include(version.mimeType)
        if saysLess, !mimeType.isEmpty { version.mimeType = mimeType }
        return version
    }
}

extension ResponseFacts {
    /// Whether this is what a server says in place of the file, the link having expired: a page
    /// where anything else was recorded, or nothing; a message where bytes were that are neither.
    ///
    /// The version counts from the moment that the partial file is made, before any byte is recorded:
    /// a crash in the first seconds does not make a login page the file.
    ///
    /// Servers call files text, JSON and XML that others call by a better name: what has the
    /// file's length is no message, and its bytes tell. So it is with an answer of some length that
    /// does not say what it is, where the file was given a type.
    package func standsInForFile(of known: RemoteVersion, onDisk: SegmentMap) -> Bool {
        guard !onDisk.isEmpty || known.isOnRecord else { return false }
        if SpokenTypes.pages.contains(mimeType) {
            return !SpokenTypes.pages.contains(known.mimeType)
        }
        if mimeType.isEmpty {
            guard !lacksValidators, status != 206, let length = contentLength.bytes else {
                return false
            }
            return length > 0 && !known.mimeType.isEmpty && !hasLength(of: known)
        }
        return SpokenTypes.messages.contains(mimeType) && !SpokenTypes.include(known.mimeType)
            && !hasLength(of: known)
    }

    /// Whether this brings the file's own number of bytes, or a part of so many.
    private func hasLength(of known: RemoteVersion) -> Bool {
        guard let total = known.total, contentEncoding == nil else { return false }
        guard status == 206 else { return contentLength.bytes == total }
        guard case .satisfied(_, let itsTotal) = contentRange else { return false }
        return itsTotal == total
    }
}

/// The types that servers speak to people and programs in.
private enum SpokenTypes {
    /// Nothing but what a browser shows.
    static let pages: Set<String> = ["text/html", "application/xhtml+xml"]
    /// What files are of as well.
    static let messages: Set<String> = [
        "text/plain", "application/json", "application/problem+json", "text/xml",
        "application/xml",
    ]

    static func include(_ type: String) -> Bool {
        pages.contains(type) || messages.contains(type)
    }
}

extension Failure {
    /// A page in place of the file.
    package static var linkExpired: Failure {
        Failure(
            .serverForbidden,
            "The server sent a web page in place of the file. The link has expired: \(freshLink)"
        )
    }
}
