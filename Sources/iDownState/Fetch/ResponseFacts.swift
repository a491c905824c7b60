// SPDX-License-Identifier: Apache-2.0

/// A Content-Range field that could be read (RFC 9110 section 14.4).
package enum ContentRange: Hashable, Sendable {
    /// `bytes 0-9/100`, the total nil for `*`.
    case satisfied(ByteRange, total: Int64?)
    /// `bytes */100`.
    case unsatisfied(total: Int64)
}

/// What the length fields of a response say.
package enum ContentLength: Hashable, Sendable {
    /// None was given, or the body is chunked.
    case unknown
    case bytes(Int64)
    /// Negative, not a number, too large, or given twice differently.
    case invalid
}

/// A response's head, read but not yet judged.
///
/// The response may be anybody's: no field is trusted.
package struct ResponseFacts: Hashable, Sendable {
    package var status: Int
    package var contentLength: ContentLength
    /// Nil where the field is missing or cannot be read.
    package var contentRange: ContentRange?
    /// The field is there and cannot be read.
    package var hasUnreadableRange: Bool
    package var entityTag: EntityTag?
    package var lastModified: LastModified?
    /// `Accept-Ranges: bytes` was there.
    package var acceptsRanges: Bool
    /// `Accept-Ranges: none` was there.
    package var refusesRanges: Bool
    /// Anything but identity, in small letters; nil for a plain body.
    package var contentEncoding: String?
    /// Without parameters, in small letters; empty when missing.
    package var mimeType: String
    /// Nil where the field is missing, or given twice differently.
    package var location: String?
    /// Location was given twice differently: nobody knows which one is meant.
    package var hasSeveralLocations: Bool
    /// Seconds, or a date taken against the response's own Date.
    package var retryAfter: Duration?
    /// The strongest digest that it gives of the whole file, as the server has it encoded.
    package var checksum: Checksum?
    /// From FTP or SFTP, where size and time are all there is to tell a version by: enough to go
    /// on with, and never enough to vouch for the bytes.
    package var lacksValidators: Bool
    /// HTTP/0.9 or something else without a status line.
    package var isUnreadable: Bool
    /// Something beside the chunks was done to the body for the way (RFC 9112 section 7.2).
    package var hasTransferCoding: Bool

    package init(
        status: Int,
        contentLength: ContentLength = .unknown,
        contentRange: ContentRange? = nil,
        hasUnreadableRange: Bool = false,
        entityTag: EntityTag? = nil,
        lastModified: LastModified? = nil,
        acceptsRanges: Bool = false,
        refusesRanges: Bool = false,
        contentEncoding: String? = nil,
        mimeType: String = "",
        location: String? = nil,
        hasSeveralLocations: Bool = false,
        retryAfter: Duration? = nil,
        checksum: Checksum? = nil,
        lacksValidators: Bool = false,
        isUnreadable: Bool = false,
        hasTransferCoding: Bool = false
    ) {
        self.status = status
        self.contentLength = contentLength
        self.contentRange = contentRange
        self.hasUnreadableRange = hasUnreadableRange
        self.entityTag = entityTag
        self.lastModified = lastModified
        self.acceptsRanges = acceptsRanges
        self.refusesRanges = refusesRanges
        self.contentEncoding = contentEncoding
        self.mimeType = mimeType
        self.location = location
        self.hasSeveralLocations = hasSeveralLocations
        self.retryAfter = retryAfter
        self.checksum = checksum
        self.lacksValidators = lacksValidators
        self.isUnreadable = isUnreadable
        self.hasTransferCoding = hasTransferCoding
    }
}
