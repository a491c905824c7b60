// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting
import iDownloader

/// Answers that are no file.
@Suite(.timeLimit(.minutes(5))) struct BadResponseTests {
    /// One answer, one attempt.
    private func download(
        _ steps: [Step],
        check: (Site, RecordingJournal) throws -> Void
    ) async throws {
        try await withServer({ _ in steps }) { server in
            try await withSite { site in
                try check(site, try await site.download(server.url("/file.bin")))
            }
        }
    }

    @Test(arguments: [
        "204 No Content", "205 Reset Content", "304 Not Modified", "300 Multiple Choices",
        "226 IM Used", "201 Created", "418 I'm a teapot", "999 What",
    ])
    func `a status that brings no file`(status: String) async throws {
        try await download([.head(status), .close]) { site, journal in
            expectFailure(.serverBadResponse, isTransient: false, site, journal)
            #expect(site.files.isEmpty)
        }
    }

    @Test func `a switch of protocols that nobody asked for`() async throws {
        try await download([.head("101 Switching Protocols"), .text("no HTTP"), .close]) {
            site,
            journal in
            #expect(journal.record.failure != nil)
            #expect(site.files.isEmpty)
        }
    }

    @Test func `a header line that is none`() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nno colon\r\n\r\n"
        try await download([.rawHead(head), .text("hello")]) { site, journal in
            expectFailure(.serverBadResponse, isTransient: false, site, journal)
            #expect(site.files.isEmpty)
        }
    }

    @Test(arguments: ["a line of text\r\n", "\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}", "<html></html>"])
    func `an answer without a head is no HTTP`(text: String) async throws {
        try await download([.text(text), .close]) { site, journal in
            expectFailure(.serverBadResponse, isTransient: false, site, journal)
            #expect(site.files.isEmpty)
        }
    }

    @Test(arguments: [
        ["-1"], ["99999999999999999999"], ["9223372036854775808"], ["5", "6"], ["5, 6"],
        ["0x5"], ["5 bytes"], ["+5"], [""], ["five"],
    ])
    func `a length that is none`(values: [String]) async throws {
        let fields = values.map { ("Content-Length", $0) }
        try await download([.head("200 OK", fields), .text("hello"), .close]) { site, journal in
            expectFailure(.serverBadResponse, isTransient: false, site, journal)
            #expect(site.files.isEmpty)
        }
    }

    @Test(arguments: [["5", "5"], ["5, 5"], ["05"]])
    func `one length said in two ways is one`(values: [String]) async throws {
        let fields = values.map { ("Content-Length", $0) }
        try await download([.head("200 OK", fields), .text("hello")]) { site, journal in
            expectComplete(TestContent(Array("hello".utf8)), site, journal)
        }
    }

    @Test func `a length that no disk holds`() async throws {
        let fields = [("Content-Length", "9223372036854775807")]
        try await download([.head("200 OK", fields), .text("hello"), .stall]) { site, journal in
            #expect(journal.record.failure?.code == .fileNoSpace)
            #expect(site.files.isEmpty)
        }
    }

    @Test func `endless header lines`() async throws {
        try await download([
            .rawHead("HTTP/1.1 200 OK\r\n"), .sendForever(Array("X-Filler: y\r\n".utf8)),
        ]) { site, journal in
            expectFailure(.serverBadResponse, isTransient: false, site, journal)
            #expect(site.files.isEmpty)
        }
    }

    /// libcurl says of it no more than that memory was wanting: it is tried again, since that may
    /// be so.
    @Test func `an endless header line`() async throws {
        try await download([
            .rawHead("HTTP/1.1 200 OK\r\nX-Filler: "),
            .sendForever(Array(repeating: UInt8(ascii: "y"), count: 1000)),
        ]) { site, journal in
            expectFailure(.serverBadResponse, isTransient: true, site, journal)
            #expect(journal.record.failure?.message.contains("100 KiB") == true)
            #expect(site.files.isEmpty)
        }
    }

    @Test func `endless answers before the answer`() async throws {
        try await download([
            .sendForever(Array("HTTP/1.1 103 Early Hints\r\nX-Filler: y\r\n\r\n".utf8))
        ]) { site, journal in
            expectFailure(.serverBadResponse, isTransient: false, site, journal)
        }
    }

    @Test func `endless trailers`() async throws {
        try await download([
            .head("200 OK", [("Transfer-Encoding", "chunked")]), .chunk([1, 2, 3]),
            .text("0\r\n"), .sendForever(Array("X-Filler: y\r\n".utf8)),
        ]) { site, journal in
            #expect(journal.record.failure?.code == .serverBadResponse)
            #expect(site.files.allSatisfy { $0.hasSuffix(".part") })
        }
    }

    @Test func `chunks that cannot be read`() async throws {
        try await download([
            .head("200 OK", [("Transfer-Encoding", "chunked")]), .chunk([1, 2, 3]),
            .text("nonsense\r\n"), .close,
        ]) { site, journal in
            expectFailure(.serverBadResponse, isTransient: true, site, journal)
            let message = journal.record.failure?.message ?? ""
            #expect(message.hasPrefix("The server's answer is damaged"), "\(message)")
        }
    }

    @Test func `words of libcurl stand behind a sentence of idown`() async throws {
        let head = "HTTP/1.1 200 OK\r\nX-Odd: a\u{0}b\r\nContent-Length: 5\r\n\r\n"
        try await download([.rawHead(head), .text("hello")]) { site, journal in
            expectFailure(.serverBadResponse, isTransient: false, site, journal)
            let message = journal.record.failure?.message ?? ""
            let start = "The server's answer cannot be read (Nul byte in header). Try"
            #expect(message.hasPrefix(start), "\(message)")
        }
    }

    @Test func `two lengths that differ are called so`() async throws {
        let fields = [("Content-Length", "5"), ("Content-Length", "6")]
        try await download([.head("200 OK", fields), .text("hello"), .close]) { _, journal in
            #expect(journal.record.failure?.message.contains("or two that differ") == true)
        }
    }

    /// A cut head is a cut connection: the next answer may well be whole.
    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 2",
        "HTTP/1.1 200 OK\r\n",
    ])
    func `a head that is cut off is tried again`(head: String) async throws {
        try await download([.rawHead(head), .close]) { site, journal in
            #expect(journal.record.failure?.isTransient == true, "\(journal.record)")
            #expect(site.files.isEmpty)
        }
    }

    @Test func `a folded header line does no harm`() async throws {
        try await download([
            .rawHead("HTTP/1.1 200 OK\r\nX-A: b\r\n folded\r\nContent-Length: 5\r\n\r\n"),
            .text("hello"),
        ]) { site, journal in
            expectComplete(TestContent(Array("hello".utf8)), site, journal)
        }
    }
}
