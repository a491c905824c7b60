// SPDX-License-Identifier: Apache-2.0

import Curl
import Testing

struct URLReferenceTests {
    @Test(arguments: [
        ("http://host", "http://host/"),
        ("  http://host/a \t", "http://host/a"),
        ("HTTP://HOST.Example/Path", "http://host.example/Path"),
        ("http://host:80/", "http://host/"),
        ("https://host:443/", "https://host/"),
        ("http://host:443/", "http://host:443/"),
        ("http://host:/a", "http://host/a"),
        ("http://host?q", "http://host/?q"),
        ("http://host/?", "http://host/?"),
        ("http://host/a#fragment?x", "http://host/a"),
        ("http://host/a?b#fragment", "http://host/a?b"),
        ("http://host#x", "http://host/"),
        ("http://host/a/../b/./c", "http://host/b/c"),
        ("http://host/a b?c d", "http://host/a%20b?c%20d"),
        ("http://host/ä?ö", "http://host/%C3%A4?%C3%B6"),
        ("http://host/%2e%41%zz", "http://host/%2e%41%zz"),
        ("http://ü:ß@host/", "http://%C3%BC:%C3%9F@host/"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://b%C3%BCcher.example/", "http://xn--bcher-kva.example/"),
        ("http://[2001:DB8::1]:8080/", "http://[2001:db8::1]:8080/"),
        ("http://[fe80::1%25eth0]/", "http://[fe80::1%25eth0]/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://%3127.1/", "http://127.0.0.1/"),
        ("http://%389", "http://0.0.0.89/"),
        ("http://host./", "http://host./"),
        ("http://:word@host/", "http://:word@host/"),
        ("ftp://host/a;type=i", "ftp://host/a"),
        ("other+1://host/a", "other+1://host/a"),
        ("http://host/http://other/", "http://host/http://other/"),
    ])
    func `a URL has one normal form`(text: String, normal: String) throws {
        let url = try URLReference(text)
        #expect(url.text == normal)
        #expect(try URLReference(normal) == url)
    }

    @Test(arguments: [
        ("", URLFailure.scheme), ("host", .scheme), ("/path", .scheme), ("//host/", .scheme),
        ("1http://host", .scheme), ("ht tp://host", .scheme), ("://host", .scheme),
        ("http:", .slashes), ("http:host", .slashes), ("http:/x", .slashes),
        ("http:///x", .slashes), ("http:////host", .slashes), ("javascript:alert(1)", .slashes),
        ("file:///etc/passwd", .slashes), ("localhost:80/", .slashes),
        ("http://", .noHost), ("http://?q", .noHost), ("http://#f", .noHost),
        ("http://:80/", .noHost), ("http://me:word@/", .noHost),
        ("http:\\\\x", .backslash), ("http://host\\@other/", .backslash),
        ("http://host/a\\b", .backslash),
        ("http://host/\u{0}", .controlCharacter), ("http://host/\r", .controlCharacter),
        ("http://ho\nst/", .controlCharacter), ("http://host/a\tb", .controlCharacter),
        ("http://host/\n", .controlCharacter), ("http://host/\u{7F}", .controlCharacter),
        ("http://host:0/", .port), ("http://host:99999/", .port), ("http://host:x/", .port),
        ("http://host:65536/", .port), ("http://host:-1/", .port),
        ("http://ho st/", .host), ("http://[::g]/", .host), ("http://[::1/", .host),
        ("http://a%2fb/", .host), ("http://%%389/", .host), ("http://\u{37E}/", .host),
        ("ftp://a\u{37E}b/f", .host), ("http://a%2541/", .host),
        ("http://a%00b/", .host), ("http://a<b/", .host),
        ("http://./", .host), ("http://\u{FFFF}/", .host),
        ("http://a%00b:c@host/", .userInfo),
    ])
    func `what is no URL is refused with a reason`(text: String, reason: URLFailure) {
        #expect(throws: reason) { try URLReference(text) }
    }

    @Test func `64 KiB are read and a byte more is not`() throws {
        let start = "http://host/"
        let path = String(repeating: "a", count: URLReference.maximumLength - start.utf8.count)
        #expect(try URLReference(start + path).path.utf8.count == path.utf8.count + 1)
        #expect(throws: URLFailure.tooLong) { try URLReference(start + path + "a") }
    }

    @Test func `what was read can be read again, or is too long`() throws {
        let start = "http://host/"
        let count = (URLReference.maximumLength - start.utf8.count) / 6
        let read = try URLReference(start + String(repeating: "é", count: count))
        #expect(try URLReference(read.text) == read)
        #expect(throws: URLFailure.tooLong) {
            try URLReference(start + String(repeating: "é", count: count + 1))
        }
    }

    @Test func `a URL is taken apart`() throws {
        let url = try URLReference("http://me:p%40ss@host:8080/a?b=c")
        #expect(url.scheme == "http")
        #expect(url.user == "me")
        #expect(url.password == "p@ss")
        #expect(url.host == "host")
        #expect(url.port == 8080)
        #expect(url.effectivePort == 8080)
        #expect(url.path == "/a")
        #expect(url.query == "b=c")
        #expect(url.text == "http://me:p%40ss@host:8080/a?b=c")
        #expect(url.withoutUserInfo == "http://host:8080/a?b=c")
        #expect(url.withoutUserInfoAndQuery == "http://host:8080/a")
        #expect("\(url)" == "http://host:8080/a")
    }

    @Test func `what is missing is nil`() throws {
        let url = try URLReference("https://host")
        #expect(url.user == nil)
        #expect(url.password == nil)
        #expect(url.port == nil)
        #expect(url.effectivePort == 443)
        #expect(url.query == nil)
        #expect(try URLReference("other://host").effectivePort == nil)
    }

    @Test func `no failure repeats the text`() {
        #expect(throws: URLFailure.self) { try URLReference("http://me:word@ho st/") }
        for reason in [URLFailure.host, .userInfo, .syntax] {
            #expect("\(reason)" == reason.rawValue)
        }
    }

    @Test func `bytes of any kind do not trap`() {
        var state: UInt64 = 1
        let alphabet = Array("ht:/@?#[]%.\\ \t0ä\u{0}".unicodeScalars)
        for _ in 1...20_000 {
            var text = "http:"
            for _ in 0..<12 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                text.unicodeScalars.append(alphabet[Int(state >> 33) % alphabet.count])
            }
            guard let url = try? URLReference(text) else { continue }
            // What was read once is read the same again.
            #expect((try? URLReference(url.text))?.text == url.text, "\(text.debugDescription)")
        }
    }
}
