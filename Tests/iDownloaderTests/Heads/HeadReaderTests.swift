// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownloader

@testable import iDownState

extension HeadReader {
    /// Reads text as libcurl would give it: line by line, each with its end.
    mutating func read(_ text: String) throws(Failure) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            try read(bytes: Array(line.utf8) + [0x0D, 0x0A])
        }
    }

    mutating func read(bytes: [UInt8]) throws(Failure) {
        let result = bytes.withUnsafeBytes { line in
            Result { () throws(Failure) in try read(line: line) }
        }
        try result.get()
    }
}

@Suite struct HeadReaderTests {
    @Test func `a head is complete at its blank line`() throws {
        var reader = HeadReader()
        try reader.read("HTTP/1.1 200 OK\nContent-Length: 5\n")
        #expect(reader.head == nil)
        try reader.read("\n")
        #expect(reader.head?.facts.status == 200)
        #expect(reader.head?.facts.contentLength == .bytes(5))
        #expect(reader.head?.facts.isUnreadable == false)
    }

    @Test func `an interim response passes by and leaves nothing`() throws {
        var reader = HeadReader()
        try reader.read("HTTP/1.1 103 Early Hints\nETag: \"early\"\nContent-Length: 9\n\n")
        #expect(reader.head == nil)
        try reader.read("HTTP/2 200\nContent-Type: text/html\n\n")
        #expect(reader.head?.facts.entityTag == nil)
        #expect(reader.head?.facts.contentLength == .unknown)
        #expect(reader.head?.facts.mimeType == "text/html")
    }

    @Test func `a second response begins anew`() throws {
        var reader = HeadReader()
        try reader.read("HTTP/1.1 401 Unauthorized\nETag: \"a\"\n\n")
        #expect(reader.head?.facts.status == 401)
        try reader.read("HTTP/1.1 200 OK\n")
        #expect(reader.head == nil)
        try reader.read("\n")
        #expect(reader.head?.facts == ResponseFacts(status: 200))
    }

    @Test func `behind the first bytes of a body it is told apart`() throws {
        var reader = HeadReader()
        try reader.read("HTTP/2 200\nETag: \"a\"\n\n")
        let head = reader.head
        reader.bodyBegan()
        #expect(!reader.hasBegunAnew)
        try reader.read("HTTP/1.1 200 OK\nETag: \"b\"\n\n")
        #expect(reader.head == head)
        #expect(reader.hasBegunAnew)
    }

    @Test(arguments: [true, false])
    func `trailers change nothing`(hasBody: Bool) throws {
        var reader = HeadReader()
        try reader.read("HTTP/1.1 200 OK\nETag: \"a\"\n\n")
        if hasBody { reader.bodyBegan() }
        let head = reader.head
        try reader.read("ETag: \"b\"\nContent-Length: 1\n\n")
        #expect(reader.head == head)
        #expect(reader.head?.facts.entityTag?.opaque == "\"a\"")
    }

    @Test func `a trailer that looks like a status line is one of the trailers`() throws {
        var reader = HeadReader()
        try reader.read("HTTP/1.1 200 OK\n\n")
        reader.bodyBegan()
        try reader.read("HTTP/1.1 500 Oops\n\n")
        #expect(reader.head?.facts.status == 200)
    }

    @Test func `a body without a head is unreadable`() {
        var reader = HeadReader()
        reader.bodyBegan()
        #expect(reader.head?.facts.isUnreadable == true)
    }

    @Test(arguments: [
        "HTTP/0.9 200 OK", "HTTP/1.1", "HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 -20 OK",
        "HTTP/1.1 099 OK", "HTTP/1.1 2x0", "HTTP/ 200", "HTTP/x 200", "ICY 200 OK",
    ])
    func `a status line that is none makes the response unreadable`(line: String) throws {
        var reader = HeadReader()
        try reader.read(line + "\n\n")
        #expect(reader.head?.facts.isUnreadable == true)
    }

    @Test(arguments: [
        "HTTP/1.0 200", "HTTP/1.1 200", "HTTP/2 200 ", "HTTP/3 200", "HTTP/1.1  200 x",
    ])
    func `a status line need not have a reason`(line: String) throws {
        var reader = HeadReader()
        try reader.read(line + "\n\n")
        #expect(reader.head?.facts.status == 200)
        #expect(reader.head?.facts.isUnreadable == false)
    }

    @Test func `headers without end are ended`() throws {
        var reader = HeadReader()
        let line = Array("X: y\r\n".utf8)
        var count = 0
        let failure = #expect(throws: Failure.self) {
            while count <= HeadReader.byteLimit {
                try reader.read(bytes: line)
                count += line.count
            }
        }
        #expect(failure?.code == .serverBadResponse)
        #expect(count == HeadReader.byteLimit)
    }

    @Test func `interim responses, trailers and earlier requests count`() throws {
        let many = String(repeating: "X: 0123456789\n", count: 7000)
        var reader = HeadReader(bytesBefore: 100)
        try reader.read("HTTP/1.1 103 Early Hints\n" + many + "\n")
        try reader.read("HTTP/1.1 200 OK\n" + many + "\n")
        reader.bodyBegan()
        #expect(reader.headerBytes > 200_000)
        #expect(throws: Failure.self) { try reader.read(many) }
        var full = HeadReader(bytesBefore: .max)
        #expect(throws: Failure.self) { try full.read("X: y\n") }
    }

    @Test func `the disposition comes as raw bytes`() throws {
        var reader = HeadReader()
        try reader.read("HTTP/1.1 200 OK\n")
        try reader.read(bytes: Array("content-disposition:  x=".utf8) + [0xE9, 0x0D, 0x0A])
        try reader.read("\n")
        #expect(reader.head?.contentDisposition == Array("x=".utf8) + [0xE9])
    }

    @Test func `a folded line goes on, a line without colon is passed over`() throws {
        var reader = HeadReader()
        try reader.read(
            " before any\nHTTP/1.1 200 OK\n first\nX-A: one\n\t two\nnonsense\n: empty\n"
        )
        try reader.read("X B: blank\nX-C : blank\nX-D:\n\n")
        let fields = try #require(reader.head?.fields)
        #expect(fields.first("x-a") == Array("one two".utf8))
        #expect(fields.first("x b") == nil)
        #expect(fields.first("x-c") == nil)
        #expect(fields.first("x-d") == [])
    }

    @Test func `no bytes trap`() throws {
        var hostile = HostileBytes(seed: 99)
        let names = [
            "Content-Length", "Content-Range", "ETag", "Last-Modified", "Date", "Retry-After",
            "Content-Type", "Content-Encoding", "Transfer-Encoding", "Location", "Accept-Ranges",
            "Content-Disposition",
        ]
        for _ in 0..<2000 {
            var reader = HeadReader()
            try reader.read("HTTP/1.1 206 OK\n")
            for name in names {
                let value = hostile.bytes("bytes 0-9/*,;\":GMT Sun W/9999999", longest: 60)
                try reader.read(bytes: Array("\(name): ".utf8) + value + [0x0D, 0x0A])
                try reader.read(bytes: value)
            }
            reader.bodyBegan()
            #expect(reader.head != nil)
        }
    }
}
