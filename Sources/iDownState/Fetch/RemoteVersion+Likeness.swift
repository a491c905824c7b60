// SPDX-License-Identifier: Apache-2.0

/// How the version in an answer relates to the version of the bytes on disk.
package enum Likeness: Hashable, Sendable {
    /// The strong validators are equal, and nothing contradicts them.
    case same
    /// Nothing contradicts equality and nothing proves it: the bytes are compared
    /// (``OverlapProof``).
    case unproven
    /// Another file.
    case changed
}

extension RemoteVersion {
    /// Judges whether `other` may be this version.
    ///
    /// A different date means another version, unless the recorded one comes from another URL. What
    /// a different ETag means depends on the hosts that gave both (``TagEvidence``). Equal
    /// validators mean one version only where one URL gave both (RFC 9110 section 8.8.3), because
    /// many hosts derive ETags from size and time. A file of unknown length needs an equal strong
    /// validator, because a proof would have no known end.
    ///
    /// - Parameters:
    ///   - other: the version in an answer.
    ///   - otherTag: what an ETag means that differs from this version's.
    ///   - isOfSamePlace: whether one URL gave both versions' validators.
    /// - Returns: how `other` relates to this version.
    package func likeness(
        of other: RemoteVersion,
        otherTag: TagMeaning,
        isOfSamePlace: Bool = true
    ) -> Likeness {
        guard total == other.total || (other.total == nil && total != nil) else { return .changed }
        if isContradicted(by: other.checksum) { return .changed }
        if !needsProof {
            if isSame(as: other) {
                return isOfSamePlace ? .same : total == nil ? .changed : .unproven
            }
            if isContradicted(by: other.lastModified) { return .changed }
            if otherTag == .anotherFile, hasAnotherTag(than: other) { return .changed }
        }
        return total == nil ? .changed : .unproven
    }

    /// Returns what is known once this version's bytes turned out to be those of `other`.
    ///
    /// - Parameters:
    ///   - other: the version in an answer.
    ///   - isOfSamePlace: whether one URL gave both versions; then an answer without validators does
    ///     not take away the known ones, which tell next time whether the file has changed.
    /// - Returns: the version, whose integrity rests on the proof.
    func proven(as other: RemoteVersion, isOfSamePlace: Bool = false) -> RemoteVersion {
        var version = other
        if isOfSamePlace, !needsProof, other.entityTag == nil, other.lastModified == nil {
            (version.entityTag, version.lastModified) = (entityTag, lastModified)
            version.isFromElsewhere = isFromElsewhere
        }
        version.total = total
        version.checksum = other.checksum ?? checksum
        version.needsProof = false
        version.restsOnProof = true
        // Servers give bytes of any kind a text type, which says less than a recorded type.
        let saysLess = version.mimeType.isEmpty || SpokenTypes.include(version.mimeType)
        if saysLess, !mimeType.isEmpty { version.mimeType = mimeType }
        return version
    }

    /// Becomes the version in an answer for which there is no file yet, so that a web page in a
    /// later answer is known as one.
    ///
    /// Any other version may come in its place, because there are no bytes of it. The version on
    /// which idown and a browser have agreed stays. An offer without a type tells no page from
    /// other files.
    ///
    /// - Returns: whether it has become that version.
    mutating func takeOffer(_ offer: RemoteVersion) -> Bool {
        guard !offer.mimeType.isEmpty, needsProof || !isOnRecord else { return false }
        self = offer
        needsProof = true
        return true
    }
}

extension ResponseFacts {
    /// Whether a server may send this in place of the file, because the link has expired.
    ///
    /// A web page may stand in for any file that is not recorded as one. A message (text, JSON,
    /// XML) may stand in for a file whose recorded type is neither. Servers give such types to
    /// files as well, so an answer with the file's length is no message, and its bytes decide. An
    /// answer without a type, but with a length that is neither 0 nor the file's, may stand in for
    /// a file with a recorded type.
    ///
    /// A version counts as recorded from the moment that the partial file is made, before any byte
    /// is, and also where an attempt ends before that: neither a crash in the first seconds nor a
    /// wait for room on the disk turns a login page into the file.
    package func standsInForFile(of known: RemoteVersion, onDisk: SegmentMap) -> Bool {
        guard !onDisk.isEmpty || known.isOnRecord else { return false }
        if SpokenTypes.pages.contains(mimeType) {
            // Small servers (busybox) call every part a page.
            return !SpokenTypes.pages.contains(known.mimeType)
                && !(status == 206 && hasLength(of: known))
        }
        if mimeType.isEmpty {
            guard !lacksValidators, status != 206, let length = contentLength.bytes else {
                return false
            }
            // A fresh link may lead to a host that names no types, and a new version has validators.
            let isNew = known.needsProof || entityTag != nil || lastModified != nil
            return !isNew && length > 0 && !known.mimeType.isEmpty && !hasLength(of: known)
        }
        return SpokenTypes.messages.contains(mimeType) && !SpokenTypes.include(known.mimeType)
            && !hasLength(of: known)
    }

    /// Whether this announces the file's length, as its own or as the total of its range.
    private func hasLength(of known: RemoteVersion) -> Bool {
        guard let total = known.total, contentEncoding == nil else { return false }
        guard status == 206 else { return contentLength.bytes == total }
        guard case .satisfied(_, let itsTotal) = contentRange else { return false }
        return itsTotal == total
    }
}

/// The media types in which servers talk to people and programs.
private enum SpokenTypes {
    /// Types that only browsers show.
    static let pages: Set<String> = ["text/html", "application/xhtml+xml"]
    /// Types of messages, which files have as well.
    static let messages: Set<String> = [
        "text/plain", "application/json", "application/problem+json", "text/xml",
        "application/xml",
    ]

    static func include(_ type: String) -> Bool { pages.contains(type) || messages.contains(type) }
}

extension Failure {
    /// The failure for a web page in place of the file.
    package static var linkExpired: Failure {
        Failure(
            .serverForbidden,
            "The server sent a web page in place of the file. The link has expired: \(freshLink)"
        )
    }
}
