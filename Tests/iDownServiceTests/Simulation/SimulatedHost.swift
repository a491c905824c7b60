// SPDX-License-Identifier: Apache-2.0

import Curl
import Glibc
import iDownState
import iDownTesting

/// A file at the other end: its versions, and what its server says of them.
struct SimulatedFile: Sendable {
    /// What the server gives to know a version by.
    enum Validator: CaseIterable, Sendable {
        case strongTag, weakTag, tagOfTheMoment, date, none
    }

    let number: Int
    let size: Int64
    let validator: Validator
    let servesRanges: Bool
    /// Whether its length is not told beforehand.
    let hidesLength: Bool
    /// Whether versions differ in two blocks of 4 KiB only, which a proof by windows may miss: the
    /// server's validators have to tell.
    let changesInTwoBlocks: Bool
    /// The number of the present version; all before it were there once.
    var version = 1
    /// How many answers were given, for a server whose every answer has another tag.
    var answers = 0

    init(_ number: Int, using dice: inout some RandomNumberGenerator) {
        self.number = number
        let sizes: [ClosedRange<Int64>] = [
            0...10, 1...3_000, 60_000...70_000, 100_000...400_000, 1_100_000...1_500_000,
        ]
        size = Int64.random(in: sizes.randomElement(using: &dice) ?? 1...1, using: &dice)
        validator =
            Bool.random(using: &dice)
            ? .strongTag : Validator.allCases.randomElement(using: &dice) ?? .none
        servesRanges = Int.random(in: 0..<5, using: &dice) > 0
        hidesLength = Int.random(in: 0..<12, using: &dice) == 0
        changesInTwoBlocks =
            [.strongTag, .weakTag, .date, .tagOfTheMoment].contains(validator)
            && Int.random(in: 0..<2, using: &dice) == 0
    }

    func url(host: Int) -> String { "http://h\(host).example/f\(number)" }

    // MARK: Bytes

    /// All bytes of all versions are pieces of this.
    private static let bytes: [UInt8] = {
        var generator = SeededGenerator(seed: 4711)
        let words = (0..<(1 << 19)).map { _ in generator.next() }
        return words.withUnsafeBytes { Array($0) }
    }()

    /// The bytes of a version from `offset` on, as long as `body` runs.
    func withBytes<Value>(
        of version: Int,
        from offset: Int64,
        count: Int,
        _ body: (UnsafeRawBufferPointer) -> Value
    ) -> Value {
        guard changesInTwoBlocks, version > 1 else {
            return Self.withBytes(salt: salt(of: version), from: offset, count: count, body)
        }
        let all = offset..<(offset + Int64(count))
        let blocks = blocks(of: version).map { $0.clamped(to: all) }.filter { !$0.isEmpty }
        return Self.withBytes(salt: salt(of: 1), from: offset, count: count) { first in
            guard !blocks.isEmpty else { return body(first) }
            var bytes = Array(first)
            for block in blocks {
                let start = Int(block.lowerBound - offset)
                Self.withBytes(
                    salt: salt(of: version),
                    from: block.lowerBound,
                    count: block.count
                ) { bytes.replaceSubrange(start..<(start + block.count), with: $0) }
            }
            return bytes.withUnsafeBytes(body)
        }
    }

    /// The two blocks of 4 KiB that tell a version from the first: one in each half, since a mixture
    /// of versions that differ in one block is one of the two.
    private func blocks(of version: Int) -> [Range<Int64>] {
        let half = size / 2
        return [0, half].map { start in
            let first = start + Int64(version) * 7919 % max(1, half / 4096) * 4096
            return first..<min(size, first + 4096)
        }
    }

    /// Two versions, or two files, have no bytes in common but by chance.
    private func salt(of version: Int) -> Int {
        (number &* 7919 &+ version &* 104_729) % 2_500_000
    }

    private static func withBytes<Value>(
        salt: Int,
        from offset: Int64,
        count: Int,
        _ body: (UnsafeRawBufferPointer) -> Value
    ) -> Value {
        bytes.withUnsafeBytes { bytes in
            let start = salt + Int(offset)
            return body(UnsafeRawBufferPointer(rebasing: bytes[start..<(start + count)]))
        }
    }

    /// The version whose bytes these are, all from `offset` on; nil for none.
    func version(holding bytes: UnsafeRawBufferPointer, at offset: Int64) -> Int? {
        (1...version).reversed().first { version in
            guard offset + Int64(bytes.count) <= size else { return false }
            return withBytes(of: version, from: offset, count: bytes.count) { own in
                own.elementsEqualFast(bytes)
            }
        }
    }

    // MARK: Heads

    /// The lines of the answer's head, and the bytes that its body has.
    mutating func answer(
        range: (first: Int64, last: Int64?)?,
        ifRange: String?
    ) -> (lines: [String], body: Range<Int64>) {
        answers += 1
        var fields = ["Date: Fri, 31 Jan 2031 23:59:59 GMT", "Content-Type: application/zip"]
        if let tag { fields.append("ETag: \(tag)") }
        if validator == .date || validator == .tagOfTheMoment {
            fields.append("Last-Modified: \(date)")
        }
        let wantsWhole = ifRange.map { $0 != tag && $0 != date } ?? false
        guard servesRanges, let range, !wantsWhole else {
            if !hidesLength { fields.append("Content-Length: \(size)") }
            if servesRanges { fields.append("Accept-Ranges: bytes") }
            return (["HTTP/1.1 200 OK"] + fields + [""], 0..<size)
        }
        let first = range.first
        guard first < size else {
            fields += ["Content-Range: bytes */\(size)", "Content-Length: 0"]
            return (["HTTP/1.1 416 Range Not Satisfiable"] + fields + [""], 0..<0)
        }
        let end = min(size, (range.last ?? size - 1) + 1)
        fields += [
            "Content-Range: bytes \(first)-\(end - 1)/\(size)", "Content-Length: \(end - first)",
        ]
        return (["HTTP/1.1 206 Partial Content"] + fields + [""], first..<end)
    }

    private var tag: String? {
        switch validator {
        case .strongTag: "\"v\(version)\""
        case .weakTag: "W/\"v\(version)\""
        case .tagOfTheMoment: "\"\(answers)\""
        case .date, .none: nil
        }
    }

    private var date: String {
        "Thu, 0\(1 + version % 9) Jan 20\(10 + version % 20) 00:00:00 GMT"
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the bytes are the same; memcmp(3).
    func elementsEqualFast(_ other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count, let start = baseAddress, let otherStart = other.baseAddress
        else { return count == other.count }
        return memcmp(start, otherStart, count) == 0
    }
}
