// SPDX-License-Identifier: Apache-2.0

import Curl
import Testing
import iDownState

@testable import iDownloader

/// What comes back to a server of what it set (RFC 6265).
@Suite struct ServerCookiesTests {
    /// Our own date: 14 November 2023.
    private let now = WallTime(microseconds: 1_700_000_000_000_000)

    /// The Cookie field for `next` after a response from `url` that set all of `values`.
    private func field(
        for next: String,
        after url: String = "http://host/a/b",
        _ values: String...,
        date: String? = nil
    ) throws -> String? {
        var cookies = ServerCookies()
        cookies.take(fields(values, date), from: try URLReference(url), at: now)
        return cookies.field(for: try URLReference(next))
    }

    private func fields(_ values: [String], _ date: String? = nil) -> FieldList {
        var fields = FieldList()
        if let date { fields.append(line: Array("Date: \(date)".utf8)[...]) }
        for value in values { fields.append(line: Array("Set-Cookie: \(value)".utf8)[...]) }
        return fields
    }

    @Test func `what a server sets comes back to it, whatever the port`() throws {
        #expect(try field(for: "http://host/a/c", "sid=1") == "sid=1")
        #expect(try field(for: "http://host:81/a", "sid=1; HttpOnly; SameSite=Lax") == "sid=1")
        #expect(
            try field(for: "http://host/", "a=1; Path=/", "b=\"x y\"; path=/") == "a=1; b=\"x y\""
        )
        #expect(try field(for: "http://host/a/c", "a=1", "a=2", "b=") == "a=2; b=")
        #expect(try field(for: "http://host/a/c", "x=a=b==") == "x=a=b==")
    }

    @Test func `no other host gets it, whatever its domain says`() throws {
        for next in ["http://other/a/b", "http://sub.host/a/b", "http://127.0.0.1/a/b"] {
            #expect(try field(for: next, "a=1; Path=/", "b=2; Domain=host; Path=/") == nil)
        }
        let name = "http://dl.host.example/"
        #expect(try field(for: name, after: name, "a=1; Domain=.Host.example") == "a=1")
        // Nor may a server speak for others.
        for domain in ["other.example", "l.host.example", "sub.dl.host.example"] {
            #expect(try field(for: name, after: name, "a=1; Domain=\(domain)") == nil)
        }
    }

    @Test func `paths are kept apart, and the longest come first`() throws {
        #expect(try field(for: "http://host/", "a=1") == nil)
        #expect(try field(for: "http://host/ab", "a=1") == nil)
        #expect(try field(for: "http://host/a", "a=1") == "a=1")
        #expect(try field(for: "http://host/x", "a=1; Path=/x", "b=2; Path=/y") == "a=1")
        #expect(try field(for: "http://host/x/y", "a=1; Path=/", "b=2; Path=/x/") == "b=2; a=1")
        #expect(try field(for: "http://host/a/c", "a=1; Path=nonsense") == "a=1")
    }

    @Test func `what came under cover never goes in clear`() throws {
        let secure = "https://host/a/b"
        #expect(try field(for: "http://host/a/b", after: secure, "a=1") == nil)
        #expect(try field(for: secure, after: secure, "a=1; Secure") == "a=1")
        #expect(try field(for: secure, "a=1") == "a=1")
        #expect(try field(for: secure, "a=1; Secure") == nil)
    }

    @Test(arguments: [
        "a=; Max-Age=0", "a=; Max-Age=-1", "a=; Expires=Thu, 01-Jan-1970 00:00:00 GMT",
        "a=; Expires=Sun, 22 Nov 2026 08:00:00 GMT",
    ])
    func `a server may take a cookie back`(value: String) throws {
        let date = "Sun, 22 Nov 2026 09:00:00 GMT"
        #expect(try field(for: "http://host/a/b", "a=1", value, date: date) == nil)
        let late = "a=2; Expires=Sun, 22 Nov 2026 10:00:00 GMT"
        #expect(try field(for: "http://host/a/b", "a=1", late, date: date) == "a=2")
        // RFC 6265 section 5.3: Max-Age counts before Expires.
        let both = "a=3; Max-Age=9; Expires=Thu, 01 Jan 1970 00:00:00 GMT"
        #expect(try field(for: "http://host/a/b", both, date: date) == "a=3")
    }

    @Test(arguments: [
        "Thu, 01-Jan-1970 00:00:00 GMT", "Thu, 01-Jan-1970 00:00:01 GMT",
        "Thu, 01 Jan 1970 00:00:10 GMT", "Tue, 14 Nov 2023 22:13:20 GMT",
    ])
    func `without a date of the server's, ours tells what is over`(expiry: String) throws {
        let next = "http://host/a/b"
        #expect(try field(for: next, "a=1", "a=; Expires=\(expiry)") == nil)
        #expect(try field(for: next, "a=1", "a=2; Max-Age=9; Expires=\(expiry)") == "a=2")
        let late = "Tue, 14 Nov 2023 22:13:21 GMT"
        #expect(try field(for: next, "a=1", "a=2; Expires=\(late)") == "a=2")
        // The server's clock counts before ours.
        #expect(try field(for: next, "a=1", "a=2; Expires=\(late)", date: late) == nil)
        let early = "Tue, 14 Nov 2023 22:13:18 GMT"
        let soon = "Tue, 14 Nov 2023 22:13:19 GMT"
        #expect(try field(for: next, "a=2; Expires=\(soon)", date: early) == "a=2")
    }

    @Test(arguments: [
        "", "a", ";", "=1", "=", "a\u{1}=1", "a=1\u{7F}", "ä=1", "a=ä", "; a=1",
        "a=" + String(repeating: "x", count: 4096),
    ])
    func `what is no cookie is passed over`(value: String) throws {
        #expect(try field(for: "http://host/a/b", value) == nil)
    }

    @Test func `no more than 50 cookies and 8 KiB are sent`() throws {
        let url = try URLReference("http://host/")
        var cookies = ServerCookies()
        cookies.take(fields((0..<1000).map { "c\($0)=1" }), from: url, at: now)
        #expect(cookies.field(for: url)?.split(separator: ";").count == 50)
        let long = String(repeating: "x", count: 3000)
        cookies.take(fields((0..<9).map { "c\($0)=\(long)" }), from: url, at: now)
        #expect(try #require(cookies.field(for: url)).utf8.count <= 8192)
    }

    @Test func `hostile bytes do no harm`() throws {
        let url = try URLReference("https://host/a/b")
        var hostile = HostileBytes(seed: 23)
        var cookies = ServerCookies()
        for _ in 0..<10_000 {
            var fields = FieldList()
            let value = hostile.bytes("=; ,-01aPathDomainMax-AgeExpiresSecure", longest: 60)
            fields.append(line: (Array("set-cookie:".utf8) + value)[...])
            cookies.take(fields, from: url, at: now)
            #expect(
                cookies.field(for: url)?.utf8.allSatisfy { (0x20...0x7E).contains($0) } != false
            )
        }
    }
}
