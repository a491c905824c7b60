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
        entityTag = EntityTag(values: fields.all("etag"))
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
        let codings = fields.members("content-encoding").map { FieldText.repair($0).lowercased() }
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

extension ContentLength {
    /// Reads the field (RFC 9110 section 8.6).
    ///
    /// The same length given several times counts as one; anything other than digits is invalid.
    init(values: [[UInt8]]) {
        let lengths = values.flatMap {
            $0.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        }.map { $0.trimmed.decimal }
        guard let first = lengths.first else {
            self = .unknown
            return
        }
        guard let length = first, lengths.allSatisfy({ $0 == length }) else {
            self = .invalid
            return
        }
        self = .bytes(length)
    }
}

extension ContentRange {
    /// Reads the field (RFC 9110 section 14.4); nil for another unit or any deviation from the
    /// syntax, because bytes in the wrong place would corrupt the file.
    init?(field: [UInt8]) {
        let words = field.split(separator: 0x20, omittingEmptySubsequences: false)
        guard words.count == 2, words[0].isWord("bytes") else { return nil }
        let halves = words[1].split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let isOpen = halves[1].elementsEqual([UInt8(ascii: "*")])
        let total = halves[1].decimal
        guard isOpen || total != nil else { return nil }
        if halves[0].elementsEqual([UInt8(ascii: "*")]) {
            guard let total else { return nil }
            self = .unsatisfied(total: total)
            return
        }
        let ends = halves[0].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard ends.count == 2, let first = ends[0].decimal, let last = ends[1].decimal,
            first <= last, last < total ?? .max,
            let range = ByteRange(from: first, to: last + 1)
        else { return nil }
        self = .satisfied(range, total: total)
    }
}

extension EntityTag {
    /// The longest tag in bytes: far more than servers need, yet short enough to keep for each
    /// task.
    private static let longest = 1024

    /// Reads the field; nil where it is missing or empty.
    ///
    /// What is no valid tag counts as a weak one, which is never sent back: a change of it still
    /// means another version.
    init?(values: [[UInt8]]) {
        if let field = values.first, values.allSatisfy({ $0 == field }),
            let tag = EntityTag(field: field)
        {
            self = tag
            return
        }
        let bytes = Array(values.joined(separator: ", ".utf8)).prefix(Self.longest)
        guard !bytes.isEmpty else { return nil }
        self.init(opaque: FieldText.repair(bytes), isWeak: true)
    }

    /// Reads a valid field (RFC 9110 section 8.8.3).
    private init?(field: [UInt8]) {
        guard field.count <= Self.longest else { return nil }
        let weakness = Array("W/".utf8)
        let isWeak = field.starts(with: weakness)
        let opaque = field.dropFirst(isWeak ? weakness.count : 0)
        let quote = UInt8(ascii: "\"")
        guard opaque.count >= 2, opaque.first == quote, opaque.last == quote,
            opaque.dropFirst().dropLast().allSatisfy(\.isTagCharacter),
            // A tag that is not UTF-8 could not be sent back unchanged.
            let text = String(validating: opaque, as: UTF8.self)
        else { return nil }
        self.init(opaque: text, isWeak: isWeak)
    }
}

extension UInt8 {
    /// Whether this is a byte other than a blank, a control character or a quote.
    fileprivate var isTagCharacter: Bool { self > 0x20 && self != 0x22 && self != 0x7F }
}
