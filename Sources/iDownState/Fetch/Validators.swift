// SPDX-License-Identifier: Apache-2.0

/// An entity tag as a server gave it (RFC 9110 section 8.8.3).
package struct EntityTag: Hashable, Sendable {
    /// The opaque part with its quotes, as it goes into If-Range.
    package let opaque: String
    /// Whether it came with `W/`: equal weak tags do not promise equal bytes.
    package let isWeak: Bool

    package init(opaque: String, isWeak: Bool) {
        self.opaque = opaque
        self.isWeak = isWeak
    }

    /// Whether both may be of one version: a server that compresses a file on its way makes the tag
    /// a weak one (the weak comparison of RFC 9110 section 8.8.3.2).
    func matches(_ other: EntityTag) -> Bool { opaque == other.opaque }

    /// The field's form: `"abc"` or `W/"abc"`.
    package var field: String { isWeak ? "W/" + opaque : opaque }
}

/// A modification time as a server gave it, and whether it may stand for the bytes.
package struct LastModified: Hashable, Sendable {
    /// The field's text, to be sent back letter by letter (RFC 9110 section 13.1.5).
    package let field: String
    /// Strong by RFC 9110 section 8.8.2.2: at least a second before the response's Date.
    package let isStrong: Bool

    package init(field: String, isStrong: Bool) {
        self.field = field
        self.isStrong = isStrong
    }
}

/// What is recorded of the file at the other end, so that it is known again.
package struct RemoteVersion: Hashable, Sendable {
    /// Bytes in all; nil while unknown.
    package var total: Int64?
    package var entityTag: EntityTag?
    package var lastModified: LastModified?
    /// What the server says that the bytes come to; the complete file is held against it.
    package var checksum: Checksum?
    /// The media type without parameters, in small letters; empty when none was given.
    package var mimeType: String
    /// The server said or showed that it serves ranges.
    package var servesRanges: Bool
    /// The server said or showed that it does not; with neither, asking for one is a try.
    package var refusesRanges: Bool
    /// The host answered If-Range as if the content had changed although it had not.
    package var dislikesIfRange: Bool
    /// The bytes on disk were held against the server's where no validator tied them together.
    package var restsOnProof: Bool
    /// The validators are those of another URL and say nothing: only a proof lets it go on.
    package var needsProof: Bool

    package init(
        total: Int64? = nil,
        entityTag: EntityTag? = nil,
        lastModified: LastModified? = nil,
        checksum: Checksum? = nil,
        mimeType: String = "",
        servesRanges: Bool = false,
        refusesRanges: Bool = false,
        dislikesIfRange: Bool = false,
        restsOnProof: Bool = false,
        needsProof: Bool = false
    ) {
        self.total = total
        self.entityTag = entityTag
        self.lastModified = lastModified
        self.checksum = checksum
        self.mimeType = mimeType
        self.servesRanges = servesRanges
        self.refusesRanges = refusesRanges
        self.dislikesIfRange = dislikesIfRange
        self.restsOnProof = restsOnProof
        self.needsProof = needsProof
    }

    /// The tag where it is a strong one; nil where there is none.
    package var strongTag: EntityTag? { entityTag.flatMap { $0.isWeak ? nil : $0 } }

    /// Whether an answer has told anything that the file is known by.
    package var isOnRecord: Bool {
        total != nil || entityTag != nil || lastModified != nil || !mimeType.isEmpty
    }

    /// The validator that promises equal bytes, for If-Range; nil where there is none.
    package var strongValidator: String? {
        if let strongTag { return strongTag.opaque }
        if let lastModified, lastModified.isStrong { return lastModified.field }
        return nil
    }

    /// Nothing but a time tells the version, and nobody vouches for that (FTP, SFTP): whoever goes
    /// on after a pause has the bytes proven once more.
    package var restsOnTime: Bool { restsOnProof && entityTag == nil }

    /// Ranges and a strong validator: an interrupted transfer can go on where it stood.
    package var isResumable: Bool { servesRanges && strongValidator != nil && total != nil }

    /// Whether `other` carries this version's strong validator, and nothing that speaks against it.
    ///
    /// A weak tag, or a validator that the other answer lacks, proves nothing.
    package func isSame(as other: RemoteVersion) -> Bool {
        guard !isContradicted(by: other.checksum) else { return false }
        if let entityTag, !entityTag.isWeak {
            return other.entityTag == entityTag && !isContradicted(by: other.lastModified)
        }
        guard let lastModified, lastModified.isStrong else { return false }
        return other.lastModified?.field == lastModified.field && other.entityTag == entityTag
    }

    /// Whether something speaks for another file: another length, date or digest.
    ///
    /// Tags that differ may not (``likeness(of:otherTag:)``).
    func isContradicted(by other: RemoteVersion) -> Bool {
        if let total, let otherTotal = other.total, total != otherTotal { return true }
        return isContradicted(by: other.lastModified) || isContradicted(by: other.checksum)
    }

    /// Whether both have a tag and the tags differ in more than their strength.
    func hasAnotherTag(than other: RemoteVersion) -> Bool {
        guard let entityTag, let otherTag = other.entityTag else { return false }
        return !entityTag.matches(otherTag)
    }

    /// Whether nothing but another tag speaks for `other` being another file.
    package func differsByTagAlone(from other: RemoteVersion) -> Bool {
        !needsProof && hasAnotherTag(than: other) && !isContradicted(by: other)
    }

    /// Whether both have a date and the dates differ.
    func isContradicted(by other: LastModified?) -> Bool {
        guard let lastModified, let other else { return false }
        return lastModified.field != other.field
    }

    /// One algorithm gives the same bytes one digest.
    func isContradicted(by other: Checksum?) -> Bool {
        guard let checksum, let other, checksum.algorithm == other.algorithm else { return false }
        return checksum != other
    }

    /// The same version at a server that is never asked for a range again.
    package var withoutRanges: RemoteVersion { ranges(served: false, refused: true) }

    /// The same version at a server that has not served a range when it was asked for one.
    var withUnshownRanges: RemoteVersion { ranges(served: false, refused: refusesRanges) }

    /// The same version at a server that has shown that it serves ranges.
    var withRanges: RemoteVersion { ranges(served: true, refused: false) }

    private func ranges(served: Bool, refused: Bool) -> RemoteVersion {
        var version = self
        version.servesRanges = served
        version.refusesRanges = refused
        return version
    }

    /// What a file is known to be whose every response was held against this version.
    package var provenIntegrity: Integrity {
        // Without a length nobody can tell an early end from the right one.
        guard total != nil else { return .none }
        return strongValidator == nil || restsOnProof ? .length : .validators
    }
}
