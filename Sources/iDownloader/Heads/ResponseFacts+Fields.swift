// SPDX-License-Identifier: Apache-2.0

import iDownState

extension ResponseFacts {
    /// Reads the fields of a head.
    ///
    /// - Parameters:
    ///   - status: the status; nil if the response has no readable status line.
    ///   - fields: the fields of this response alone.
    ///   - now: this computer's time, for a response without Date.
    init(status: Int?, fields: FieldList, now: WallTime? = nil) {
        let date = fields.only("date").flatMap { HTTPDate.parse($0) }
        let ranges = fields.members("accept-ranges")
        let range = fields.only("content-range").flatMap { ContentRange(field: $0) }
        let location = fields.only("location")
        let codings = fields.members("transfer-encoding")
        let isChunked = codings.contains { $0.isWord("chunked") }
        self.init(status: status ?? 0)
        isUnreadable = status == nil
        // RFC 9112 section 6.3: chunked overrides any Content-Length.
        if !isChunked { contentLength = ContentLength(values: fields.all("content-length")) }
        contentRange = range
        hasUnreadableRange = range == nil && fields.first("content-range") != nil
        entityTag = fields.only("etag").flatMap { EntityTag(field: $0) }
        lastModified = fields.only("last-modified").flatMap {
            LastModified(field: $0, responseDate: date)
        }
        acceptsRanges = ranges.contains { $0.isWord("bytes") }
        refusesRanges = ranges.contains { $0.isWord("none") }
        contentEncoding = Self.contentEncoding(fields)
        mimeType = fields.first("content-type").map(Self.mimeType) ?? ""
        self.location = location.map(PercentEncoding.encodeNonASCII)
        hasSeveralLocations = location == nil && fields.first("location") != nil
        retryAfter = fields.first("retry-after").flatMap {
            RetryAfter.parse($0, responseDate: date, now: now)
        }
        checksum = Checksum.strongest(in: fields, status: status ?? 0)
        hasTransferCoding = codings.contains { !$0.isWord("chunked") && !$0.isWord("identity") }
    }

    /// Returns the codings in the order in which they were applied (RFC 9110 section 8.4); nil for
    /// none.
    private static func contentEncoding(_ fields: FieldList) -> String? {
        let codings = fields.members("content-encoding").map { member in
            switch FieldText.repair(member).lowercased() {
            // RFC 9110 section 8.4.1: the old names are aliases.
            case "x-gzip": "gzip"
            case "x-compress": "compress"
            case let coding: coding
            }
        }
        let applied = codings.filter { $0 != "identity" }
        return applied.isEmpty ? nil : applied.joined(separator: ", ")
    }

    /// Returns the media type without parameters (RFC 9110 section 8.3.1); empty if it is invalid.
    private static func mimeType(_ field: [UInt8]) -> String {
        let type = field.prefix { $0 != UInt8(ascii: ";") }.trimmed
        let halves = type.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        // RFC 6838 section 4.2 allows 127 characters for each half.
        guard halves.count == 2,
            halves.allSatisfy({ (1...127).contains($0.count) && $0.allSatisfy(\.isTokenCharacter) })
        else { return "" }
        return FieldText.repair(type).lowercased()
    }
}
