// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownloader

@Suite struct ResponseFactsFieldsTests {
    private func facts(_ fields: String...) throws -> ResponseFacts {
        var reader = HeadReader()
        try reader.read("HTTP/1.1 200 OK\n" + fields.map { $0 + "\n" }.joined() + "\n")
        return try #require(reader.head?.facts)
    }

    @Test(arguments: [
        ([], ContentLength.unknown),
        (["0"], .bytes(0)),
        (["42"], .bytes(42)),
        (["042"], .bytes(42)),
        (["42", "42"], .bytes(42)),
        (["42, 42"], .bytes(42)),
        (["9223372036854775807"], .bytes(.max)),
        (["9223372036854775808"], .invalid),
        (["99999999999999999999999999"], .invalid),
        (["42", "43"], .invalid),
        (["42, 43"], .invalid),
        (["42,"], .invalid),
        (["-1"], .invalid),
        (["+1"], .invalid),
        (["4 2"], .invalid),
        (["0x10"], .invalid),
        (["1e3"], .invalid),
        ([""], .invalid),
    ])
    func `a length is one number or none`(values: [String], expected: ContentLength) throws {
        var reader = HeadReader()
        let lines = values.map { "Content-Length: \($0)\n" }.joined()
        try reader.read("HTTP/1.1 200 OK\n" + lines + "\n")
        #expect(reader.head?.facts.contentLength == expected)
    }

    @Test func `the length of a chunked body says nothing`() throws {
        #expect(
            try facts("Content-Length: 5", "Transfer-Encoding: gzip, Chunked").contentLength
                == .unknown
        )
        #expect(
            try facts("Transfer-Encoding: chunked", "Content-Length: -5").contentLength == .unknown
        )
        #expect(
            try facts("Content-Length: 5", "Transfer-Encoding: identity").contentLength == .bytes(5)
        )
    }

    @Test(arguments: [
        ("chunked", false), ("Chunked", false), ("identity", false), ("identity, chunked", false),
        ("gzip, chunked", true), ("gzip", true), ("chunked, deflate", true), ("x", true),
    ])
    func `what was done to the body for the way is told`(field: String, isCoded: Bool) throws {
        #expect(try facts("Transfer-Encoding: \(field)").hasTransferCoding == isCoded)
        #expect(try !facts("Content-Encoding: gzip").hasTransferCoding)
    }

    @Test(
        arguments: [
            ("bytes 0-9/100", 0, 10, 100),
            ("BYTES 5-5/*", 5, 1, nil),
            ("bytes 0-9223372036854775805/9223372036854775806", 0, .max - 1, .max - 1),
        ] as [(String, Int64, Int64, Int64?)]
    )
    func `a range is read`(field: String, first: Int64, length: Int64, total: Int64?) throws {
        let range = try #require(ByteRange(first: first, length: length))
        let read = try facts("Content-Range: \(field)").contentRange
        #expect(read == .satisfied(range, total: total))
    }

    @Test func `a range that cannot be had is read`() throws {
        #expect(try facts("Content-Range: bytes */100").contentRange == .unsatisfied(total: 100))
    }

    @Test(arguments: [
        "", "bytes", "bytes ", "bytes 0-9", "bytes=0-9/10", "bytes: 0-9/10", "bytes  0-9/10",
        "bytes 9-0/10", "bytes 0-10/10", "bytes -9/10", "bytes 0-/10",
        "bytes 0-9/-10", "bytes 0-9/10/11", "bytes 0-9-9/10", "bytes */*", "bytes *-9/10",
        "bytes +0-9/10", "items 0-9/10", "bytes 0 -9/10", "bytes 0-9/", "bytes 0-9,20-29/100",
        "bytes 0-9223372036854775807/*", "bytes 0-99999999999999999999/*",
        "bytes 0-9/99999999999999999999",
    ])
    func `a range that is not exactly one is none`(field: String) throws {
        #expect(try facts("Content-Range: \(field)").contentRange == nil)
        #expect(try facts("Content-Range: \(field)").hasUnreadableRange)
    }

    @Test func `ranges that contradict are none`() throws {
        let fields = ["Content-Range: bytes 0-9/10", "Content-Range: bytes 0-8/10"]
        #expect(try facts(fields[0], fields[1]).contentRange == nil)
        #expect(try facts(fields[0], fields[0]).contentRange != nil)
        #expect(try !facts(fields[0], fields[0]).hasUnreadableRange)
        #expect(try !facts().hasUnreadableRange)
    }

    @Test(arguments: [
        ("\"abc\"", "\"abc\"", false),
        ("W/\"abc\"", "\"abc\"", true),
        ("\"\"", "\"\"", false),
        ("\"é\"", "\"é\"", false),
    ])
    func `a tag is read`(field: String, opaque: String, isWeak: Bool) throws {
        let tag = try facts("ETag: \(field)").entityTag
        #expect(tag == EntityTag(opaque: opaque, isWeak: isWeak))
    }

    @Test(arguments: [
        "abc", "\"abc", "abc\"", "\"", "w/\"abc\"", "W/abc", "W/ \"abc\"", "\"a b\"",
        "\"a\"b\"", "\"a\", \"b\"", "\"a\u{7F}\"", "'abc'",
    ])
    func `a malformed tag is a weak one`(field: String) throws {
        let tag = try facts("ETag: \(field)").entityTag
        #expect(tag == EntityTag(opaque: field, isWeak: true))
    }

    @Test func `two tags are a weak one, and so is the beginning of one that is far too long`()
        throws
    {
        let tag = try facts("ETag: \"a\"", "ETag: \"b\"").entityTag
        #expect(tag == EntityTag(opaque: "\"a\", \"b\"", isWeak: true))
        #expect(try facts("ETag: \"a\"", "ETag: \"a\"").entityTag?.isWeak == false)
        #expect(try facts("ETag: ").entityTag == nil)
        let long = "\"" + String(repeating: "a", count: 2000) + "\""
        #expect(try facts("ETag: \(long)").entityTag?.isWeak == true)
    }

    @Test func `a tag that is no text is a weak one`() throws {
        var reader = HeadReader()
        try reader.read("HTTP/1.1 200 OK\n")
        try reader.read(bytes: Array("ETag: \"".utf8) + [0xE9, 0x22, 0x0D, 0x0A])
        try reader.read("\n")
        #expect(reader.head?.facts.entityTag == EntityTag(opaque: "\"é\"", isWeak: true))
    }

    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:38 GMT", true),
        ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT", false),
        ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:36 GMT", false),
        ("Sun, 06 Nov 1994 08:49:37 GMT", "nonsense", false),
        ("Sun, 06 Nov 1994 08:49:37 GMT", "", false),
        ("nonsense", "Sun, 06 Nov 1994 08:49:38 GMT", false),
    ])
    func `a modification time is strong a second before the response`(
        modified: String,
        date: String,
        isStrong: Bool
    ) throws {
        let read = try facts("Last-Modified: \(modified)", "Date: \(date)").lastModified
        #expect(read == LastModified(field: modified, isStrong: isStrong))
    }

    @Test func `without a Date no modification time is strong`() throws {
        let read = try facts("Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT").lastModified
        #expect(read?.isStrong == false)
    }

    @Test func `a modification time that is too long or no text is none`() throws {
        #expect(try facts("Last-Modified:").lastModified == nil)
        #expect(
            try facts("Last-Modified: " + String(repeating: "9", count: 65)).lastModified == nil
        )
        #expect(try facts("Last-Modified: é").lastModified == nil)
    }

    @Test(
        arguments: [
            ("120", 120),
            ("0", 0),
            ("99999999999999999999", 10 * 365 * 86_400),
            ("Sun, 06 Nov 1994 08:50:07 GMT", 30),
            ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 10 * 365 * 86_400),
            ("-1", nil),
            ("1.5", nil),
            ("soon", nil),
            ("", nil),
        ] as [(String, Int64?)]
    )
    func `seconds or a date say when to come back`(field: String, seconds: Int64?) throws {
        let read = try facts("Retry-After: \(field)", "Date: Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(read.retryAfter == seconds.map { .seconds($0) })
    }

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:50:07 GMT", 30),
            ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
            // A clock of ours that is wrong must not have a download given up.
            ("Fri, 31 Dec 9999 23:59:59 GMT", 3600),
            ("120", 120),
            ("soon", nil),
        ] as [(String, Int64?)]
    )
    func `without the response's own date our clock is asked`(
        field: String,
        seconds: Int64?
    ) throws {
        // Sun, 06 Nov 1994 08:49:37 GMT.
        let now = WallTime(microseconds: 784_111_777_000_000)
        var reader = HeadReader(now: now)
        try reader.read("HTTP/1.1 503 Busy\nRetry-After: \(field)\n\n")
        #expect(reader.head?.facts.retryAfter == seconds.map { .seconds($0) })
        // The response's own goes before it.
        reader = HeadReader(now: now)
        let date = "Date: Sun, 06 Nov 1994 08:50:00 GMT\n"
        try reader.read("HTTP/1.1 503\n\(date)Retry-After: Sun, 06 Nov 1994 08:50:07 GMT\n\n")
        #expect(reader.head?.facts.retryAfter == .seconds(7))
    }

    @Test func `a date without the response's own, and without a clock, says nothing`() throws {
        #expect(try facts("Retry-After: Sun, 06 Nov 1994 08:49:37 GMT").retryAfter == nil)
        #expect(try facts("Retry-After: 7").retryAfter == .seconds(7))
    }

    @Test func `ranges are offered or refused`() throws {
        #expect(try facts("Accept-Ranges: bytes").acceptsRanges)
        #expect(try facts("Accept-Ranges: items, Bytes").acceptsRanges)
        #expect(try facts("Accept-Ranges: none").refusesRanges)
        let silent = try facts("Accept-Ranges: items")
        #expect(!silent.acceptsRanges && !silent.refusesRanges)
    }

    @Test(arguments: [
        ("text/html; charset=utf-8", "text/html"),
        ("Application/ZIP", "application/zip"),
        (" image/png ;x", "image/png"),
        ("application/vnd.a+b", "application/vnd.a+b"),
        ("text", ""),
        ("text/", ""),
        ("/html", ""),
        ("a/b/c", ""),
        ("te xt/html", ""),
        ("", ""),
    ])
    func `a media type loses its parameters`(field: String, expected: String) throws {
        #expect(try facts("Content-Type: \(field)").mimeType == expected)
    }

    @Test(
        arguments: [
            ("identity", nil),
            ("", nil),
            ("gzip", "gzip"),
            ("X-GZip", "x-gzip"),
            ("br, identity", "br"),
            ("gzip, br", "gzip, br"),
        ] as [(String, String?)]
    )
    func `a body that is encoded says how`(field: String, expected: String?) throws {
        #expect(try facts("Content-Encoding: \(field)").contentEncoding == expected)
    }

    @Test func `a redirect's target keeps its bytes`() throws {
        #expect(try facts("Location: /a b?c").location == "/a b?c")
        #expect(try facts("Location: /é").location == "/%C3%A9")
        var reader = HeadReader()
        try reader.read("HTTP/1.1 302 Found\n")
        try reader.read(bytes: Array("Location: /".utf8) + [0xE9, 0x0D, 0x0A])
        try reader.read("\n")
        #expect(reader.head?.facts.location == "/%E9")
    }

    @Test func `a redirect to several places is told from one to none`() throws {
        let several = try facts("Location: /a", "Location: /b")
        #expect(several.location == nil)
        #expect(several.hasSeveralLocations)
        let alike = try facts("Location: /a", "location: /a")
        #expect(alike.location == "/a")
        #expect(!alike.hasSeveralLocations)
        #expect(try !facts("Content-Length: 0").hasSeveralLocations)
    }
}
