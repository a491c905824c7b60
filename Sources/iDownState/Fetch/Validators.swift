// SPDX-License-Identifier: Apache-2.0

/// An entity tag as a server gave it (RFC 9110 section 8.8.3).
package struct EntityTag: Hashable, Sendable {
    /// The opaque part with its quotes, as it goes into If-Range.
    package let opaque: String
    /// Whether the tag came with `W/`: equal weak tags do not promise equal bytes.
    package let isWeak: Bool

    package init(opaque: String, isWeak: Bool) {
        self.opaque = opaque
        self.isWeak = isWeak
    }

    /// Whether both tags may belong to one version.
    ///
    /// This is the weak comparison (RFC 9110 section 8.8.3.2), because a server that compresses a
    /// file on its way makes the tag a weak one.
    func matches(_ other: EntityTag) -> Bool { opaque == other.opaque }
}

/// A modification time as a server gave it, and whether it identifies the bytes.
package struct LastModified: Hashable, Sendable {
    /// The field's text, to be sent back unchanged (RFC 9110 section 13.1.5).
    package let field: String
    /// Whether it is strong by RFC 9110 section 8.8.2.2: at least a second before the response's
    /// Date.
    package let isStrong: Bool

    package init(field: String, isStrong: Bool) {
        self.field = field
        self.isStrong = isStrong
    }
}

/// What is recorded of the file on the server, to recognise it later.
package struct RemoteVersion: Hashable, Sendable {
    /// The length in bytes; nil while unknown.
    package var total: Int64?
    package var entityTag: EntityTag?
    package var lastModified: LastModified?
    /// The digest that the server gives; the complete file is checked against it.
    package var checksum: Checksum?
    /// The media type without parameters, in small letters; empty when none was given.
    package var mimeType = ""
    /// Whether the server announced or showed that it serves ranges.
    package var servesRanges = false
    /// Whether the server announced or showed that it serves none.
    ///
    /// If neither is known, a range is asked for as a trial.
    package var refusesRanges = false
    /// Whether the host answered If-Range as if the file had changed although it had not, or refused
    /// a range.
    package var dislikesIfRange = false
    /// Whether a comparison of bytes ties the bytes on disk to this version, and no validator does.
    package var restsOnProof = false
    /// Whether the validators come from another URL and say nothing: only a proof lets the file
    /// continue.
    package var needsProof = false
    /// Whether the validators come from the target of a redirect or a mirror, and not from the
    /// task's own URL.
    package var isFromElsewhere = false

    /// The ETag if it is a strong one; nil otherwise.
    package var strongTag: EntityTag? { entityTag.flatMap { $0.isWeak ? nil : $0 } }

    /// Whether an answer has told anything that identifies the file.
    package var isOnRecord: Bool {
        total != nil || entityTag != nil || lastModified != nil || !mimeType.isEmpty
    }

    /// The validator that promises equal bytes, in the form for If-Range; nil where there is none.
    package var strongValidator: String? {
        if let strongTag { return strongTag.opaque }
        if let lastModified, lastModified.isStrong { return lastModified.field }
        return nil
    }

    /// Whether only a time identifies the version, which promises nothing (FTP, SFTP): the bytes
    /// are proven again whenever the file is continued.
    package var restsOnTime: Bool { restsOnProof && entityTag == nil }

    /// Whether an interrupted transfer can continue: with ranges, a strong validator and a length.
    package var isResumable: Bool { servesRanges && strongValidator != nil && total != nil }

    /// Whether `other` has this version's strong validator, and nothing contradicts it.
    ///
    /// A weak ETag, or a validator that `other` lacks, proves nothing.
    package func isSame(as other: RemoteVersion) -> Bool {
        guard !isContradicted(by: other.checksum) else { return false }
        if let entityTag, !entityTag.isWeak {
            return other.entityTag == entityTag && !isContradicted(by: other.lastModified)
        }
        guard let lastModified, lastModified.isStrong else { return false }
        return other.lastModified?.field == lastModified.field && other.entityTag == entityTag
    }

    /// Whether a different length, date or digest speaks for another file.
    ///
    /// Different ETags alone may not mean another file (``likeness(of:otherTag:isOfSamePlace:)``).
    func isContradicted(by other: RemoteVersion) -> Bool {
        if let total, let otherTotal = other.total, total != otherTotal { return true }
        return isContradicted(by: other.lastModified) || isContradicted(by: other.checksum)
    }

    /// Whether both have an ETag and the ETags differ in more than their strength.
    func hasAnotherTag(than other: RemoteVersion) -> Bool {
        guard let entityTag, let otherTag = other.entityTag else { return false }
        return !entityTag.matches(otherTag)
    }

    /// Whether only a different ETag speaks for `other` being another file.
    package func differsByTagAlone(from other: RemoteVersion) -> Bool {
        !needsProof && hasAnotherTag(than: other) && !isContradicted(by: other)
    }

    /// Whether both have a date and the dates differ.
    func isContradicted(by other: LastModified?) -> Bool {
        guard let lastModified, let other else { return false }
        return lastModified.field != other.field
    }

    /// Whether both have a digest by one algorithm and the digests differ.
    func isContradicted(by other: Checksum?) -> Bool {
        guard let checksum, let other, checksum.algorithm == other.algorithm else { return false }
        return checksum != other
    }

    /// The same version at a server that has refused a range: it is not asked for one again in this
    /// attempt, and in the next one without a condition.
    package var withoutRanges: RemoteVersion {
        var version = ranges(served: false, refused: true)
        version.dislikesIfRange = true
        return version
    }

    /// The same version at a server that has not answered a request for a range with one.
    var withUnshownRanges: RemoteVersion { ranges(served: false, refused: refusesRanges) }

    /// The same version in a new attempt: that the server refused a range may have been an accident,
    /// unless it announces that it has none.
    ///
    /// Without a condition, a server that has no ranges answers with the whole file, so that to ask
    /// for one costs no further request.
    var inNewAttempt: RemoteVersion {
        refusesRanges && dislikesIfRange ? ranges(served: false, refused: false) : self
    }

    /// The same version at a server that has shown that it serves ranges.
    var withRanges: RemoteVersion { ranges(served: true, refused: false) }

    private func ranges(served: Bool, refused: Bool) -> RemoteVersion {
        var version = self
        version.servesRanges = served
        version.refusesRanges = refused
        return version
    }

    /// How far a file is verified if each response fitted this version.
    package var provenIntegrity: Integrity {
        // Without a length, a body that ended too early looks like a complete one.
        guard total != nil else { return .none }
        return strongValidator == nil || restsOnProof ? .length : .validators
    }
}

extension RemoteVersion {
    /// Makes a version of which only the length is known; nil where not even that is.
    package init(total: Int64?) { self.init(total: total, mimeType: "") }
}
