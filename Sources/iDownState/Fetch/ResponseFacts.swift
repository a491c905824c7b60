// SPDX-License-Identifier: Apache-2.0

/// A Content-Range field that was readable (RFC 9110 section 14.4).
package enum ContentRange: Hashable, Sendable {
    /// `bytes 0-9/100`; the total is nil for `*`.
    case satisfied(ByteRange, total: Int64?)
    /// `bytes */100`.
    case unsatisfied(total: Int64)
}

/// What the length fields of a response say.
package enum ContentLength: Hashable, Sendable {
    /// No length was given, or the body is chunked.
    case unknown
    case bytes(Int64)
    /// The length is negative, not a number or too large, or two lengths differ.
    case invalid
}

/// The head of a response, read but not yet judged.
///
/// The response may come from anyone, so no field is trusted.
package struct ResponseFacts: Hashable, Sendable {
    package var status: Int
    package var contentLength = ContentLength.unknown
    /// Nil where the field is missing or unreadable.
    package var contentRange: ContentRange?
    /// Whether there is a Content-Range field that is unreadable.
    package var hasUnreadableRange = false
    package var entityTag: EntityTag?
    package var lastModified: LastModified?
    /// Whether the head has `Accept-Ranges: bytes`.
    package var acceptsRanges = false
    /// Whether the head has `Accept-Ranges: none`.
    package var refusesRanges = false
    /// Any coding but `identity`, in small letters; nil for a plain body.
    package var contentEncoding: String?
    /// The media type without parameters, in small letters; empty where it is missing.
    package var mimeType = ""
    /// Nil where the field is missing, and where two differ.
    package var location: String?
    /// Whether two Location fields differ, so that neither can be followed.
    package var hasSeveralLocations = false
    /// From seconds, or from a date compared with the response's own Date.
    package var retryAfter: Duration?
    /// The strongest digest of the whole file in the head; it covers the file as encoded by the
    /// server.
    package var checksum: Checksum?
    /// Whether the response is from FTP or SFTP, where only size and time identify a version:
    /// enough to continue a file, never enough to vouch for its bytes.
    package var lacksValidators = false
    /// Whether the response has no status line: HTTP/0.9 or something else.
    package var isUnreadable = false
    /// Whether the body has a transfer coding other than chunked (RFC 9112 section 7.2).
    package var hasTransferCoding = false
    /// Whether the response comes from the target of a redirect or a mirror.
    package var isFromElsewhere = false
}

extension ResponseFacts {
    /// Makes the facts of a head of which only the status is known.
    package init(status: Int) { self.init(status: status, contentLength: .unknown) }
}
