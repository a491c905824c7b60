// SPDX-License-Identifier: Apache-2.0

import Curl
import Testing
import iDownState
import iDownTesting

@testable import iDownloader

/// What servers send, changed at random: nothing of it may trap, and no name may get out of hand.
@Suite struct FuzzTests {
    private func fuzz(
        _ target: String,
        _ body: @escaping @Sendable ([UInt8]) throws -> Void
    ) throws {
        let fuzzer = Fuzzer(target, test: #filePath)
        #expect(fuzzer.hasCorpus)
        try fuzzer.run(body)
    }

    private static func check(_ name: FileName, limit: Int, _ input: [UInt8]) throws {
        let name = name.text
        let isOne = !name.isEmpty && !name.contains("/") && !name.utf8.contains(0)
        guard isOne, name.utf8.count <= limit, name != ".", name != ".." else {
            throw Fuzzer.Finding("\(name) is no name", input)
        }
    }

    @Test func `a head`() throws {
        try fuzz("head") { bytes in
            var reader = HeadReader()
            do throws(Failure) {
                for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) + [[]] {
                    try line.withUnsafeBytes { raw in
                        Result { () throws(Failure) in try reader.read(line: raw) }
                    }.get()
                }
            } catch {
                return
            }
            guard let head = reader.head else { return }
            let name = NameWish(
                contentDisposition: head.contentDisposition,
                urlPath: "/path/\(String(decoding: bytes.prefix(40), as: UTF8.self))",
                mimeType: head.facts.mimeType
            ).suggested(within: 255)
            try Self.check(name, limit: 255, bytes)
            if case .bytes(let length) = head.facts.contentLength, length < 0 {
                throw Fuzzer.Finding("the length \(length)", bytes)
            }
        }
    }

    @Test func `what servers set as cookies`() throws {
        // An empty line begins the response from the next of them.
        let pages = try ["http://a.example/x/y", "https://a.example/x/y", "http://b.a.example/"]
            .map { try URLReference($0) }
        let nexts = try ["http", "https", "ftp"].map { try URLReference("\($0)://a.example/x/y/z") }
        let strangers = try [
            "http://example/x/y", "https://c.a.example/x/y", "http://10.0.0.1/x/y",
        ]
        .map { try URLReference($0) }
        let now = WallTime(microseconds: 1_700_000_000_000_000)
        try fuzz("cookies") { bytes in
            var (all, covered) = (ServerCookies(), ServerCookies())
            var (fields, count) = (FieldList(), 0)
            let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
            for line in lines + [[]] {
                if !line.isEmpty {
                    fields.append(line: Array("Set-Cookie: ".utf8 + line)[...])
                    continue
                }
                let page = pages[count % pages.count]
                all.take(fields, from: page, at: now)
                if page.scheme == "https" { covered.take(fields, from: page, at: now) }
                fields = FieldList()
                fields.append(line: Array("Date: Sun, 06 Nov 1994 08:49:37 GMT".utf8)[...])
                count += 1
            }
            for next in nexts {
                guard let field = all.field(for: next) else { continue }
                let pairs = Array(field.utf8).split(separator: UInt8(ascii: ";"))
                let isSound =
                    next.isHTTP && field.utf8.count <= 8 << 10
                    && field.utf8.allSatisfy { (0x20...0x7E).contains($0) }
                    && pairs.allSatisfy { $0.contains(0x3D) && $0.trimmed.first != 0x3D }
                guard isSound else { throw Fuzzer.Finding("\(next): \(field)", bytes) }
            }
            guard covered.field(for: nexts[0]) == nil else {
                throw Fuzzer.Finding("in clear what came under cover", bytes)
            }
            guard strangers.allSatisfy({ all.field(for: $0) == nil }) else {
                throw Fuzzer.Finding("another host gets a cookie", bytes)
            }
        }
    }

    @Test func `a Content-Disposition`() throws {
        try fuzz("content-disposition") { bytes in
            for limit in [255, 64] {
                let wish = NameWish(contentDisposition: bytes, urlPath: "/")
                let name = wish.suggested(within: limit)
                try Self.check(name, limit: limit, bytes)
            }
        }
    }

    /// What a decoder makes of a body in pieces of this length; it gives up after 1 MiB.
    private static func decode(
        _ bytes: [UInt8],
        _ codings: [ContentCoding],
        by length: Int
    ) -> (bytes: [UInt8], flaw: ContentDecoder.Flaw?) {
        guard let decoder = ContentDecoder(codings) else { return ([], nil) }
        var decoded: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: length) {
            let verdict = bytes[start...].prefix(length).withUnsafeBytes { piece in
                decoder.decode(piece) { output in
                    decoded += output
                    return decoded.count < 1 << 20 ? .taken : .abort
                }
            }
            if case .abort = verdict { break }
        }
        return (decoded, decoder.flawAtEnd)
    }

    @Test func `an encoded body, all of it and byte by byte`() throws {
        let chains: [[ContentCoding]] = ContentCoding.allCases.map { [$0] } + [[.gzip, .brotli]]
        try fuzz("content-coding") { bytes in
            for chain in chains {
                let whole = Self.decode(bytes, chain, by: 64 << 10)
                let pieces = Self.decode(bytes, chain, by: 1)
                // Behind a flaw the last piece may be missing.
                let isLike = whole.flaw != nil || whole.bytes == pieces.bytes
                guard isLike, (whole.flaw == nil) == (pieces.flaw == nil) else {
                    throw Fuzzer.Finding("\(chain): another result byte by byte", bytes)
                }
            }
        }
    }

    @Test func `a Content-Range`() throws {
        try fuzz("content-range") { bytes in
            switch ContentRange(field: bytes) {
            case .satisfied(let range, let total):
                guard range.first >= 0, range.first < range.end, range.end <= total ?? .max else {
                    throw Fuzzer.Finding("\(range) of \(total ?? -1)", bytes)
                }
            case .unsatisfied(let total):
                guard total >= 0 else { throw Fuzzer.Finding("\(total) in all", bytes) }
            case nil: break
            }
        }
    }

    @Test func `a digest of each kind`() throws {
        let kinds = ["Repr-Digest", "Content-Digest", "Digest", "Content-MD5"]
        try fuzz("digest") { bytes in
            for kind in kinds {
                var fields = FieldList()
                fields.append(line: Array("\(kind): ".utf8 + bytes)[...])
                guard let checksum = Checksum.strongest(in: fields, status: 200) else { continue }
                guard checksum.bytes.count == checksum.algorithm.byteCount else {
                    throw Fuzzer.Finding("\(checksum) has another length", bytes)
                }
            }
        }
    }

    @Test func `a Retry-After, and any other date`() throws {
        try fuzz("retry-after") { bytes in
            let now = WallTime(microseconds: 1_700_000_000_000_000)
            if let pause = RetryAfter.parse(bytes, responseDate: now) {
                guard pause >= .zero, pause <= .seconds(10 * 365 * 86_400) else {
                    throw Fuzzer.Finding("\(pause)", bytes)
                }
            }
            // The server's own clock may be anywhere too.
            guard let date = HTTPDate.parse(bytes) else { return }
            _ = RetryAfter.parse(Array("Fri, 31 Dec 1999 23:59:59 GMT".utf8), responseDate: date)
            _ = LastModified(field: bytes, responseDate: date)
        }
    }

    @Test func `a Link`() throws {
        let page = try URLReference("http://example.org/a/b?c")
        try fuzz("link") { bytes in
            var fields = FieldList()
            fields.append(line: Array("Link: ".utf8 + bytes)[...])
            for reference in DuplicateLinks.references(fields) {
                guard let url = try? page.resolving(reference) else { continue }
                guard (try? URLReference(url.text))?.text == url.text else {
                    throw Fuzzer.Finding("the URL changes when it is read again", bytes)
                }
            }
        }
    }

    @Test func `a metalink`() throws {
        try fuzz("metalink") { bytes in
            guard let list = try? Metalink(bytes, schemes: ["http", "https", "ftp"]) else { return }
            let areNames = list.files.allSatisfy { !($0.name ?? "").contains("/") }
            guard areNames else { throw Fuzzer.Finding("a name with a slash", bytes) }
        }
    }
}
