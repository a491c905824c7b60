// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus

@testable import iDownService

@Suite struct OpenedURITests {
    @Test(arguments: [
        (
            "idown:?url=https%3A%2F%2Fexample.org%2Fa%3Fb%3Dc%26d",
            "https://example.org/a?b=c&d"
        ),
        ("IDOWN:?url=http%3a%2f%2fexample.org", "http://example.org"),
        ("idown:?url=https%3A%2F%2Fe.org%2Fgr%C3%BC%C3%9Fe%20b", "https://e.org/grüße b"),
        ("idown:?url=https%3A%2F%2Fe.org%2F%2525", "https://e.org/%25"),
        ("idown:?url=ftp%3A%2F%2Fe.org%2Fa", "ftp://e.org/a"),
    ])
    func `a link is decoded once`(text: String, url: String) throws {
        #expect(try OpenedURI(text) == .link(url))
    }

    @Test(arguments: [
        "https://example.org/a?url=b&c#d", "HTTP://example.org/", "ftps://e.org/a",
        "sftp://me@e.org/~/a", "scp://e.org/a", "javascript:alert(1)", "e.org", "",
        " idown:?url=https%3A%2F%2Fe.org",
    ])
    func `anything else is a URL to be judged`(text: String) throws {
        #expect(try OpenedURI(text) == .url(text))
    }

    @Test(arguments: [
        ("file:///home/me/a.meta4", "/home/me/a.meta4"),
        ("FILE://LocalHost/a%20b%C3%BC", "/a bü"), ("file:/a", "/a"),
        ("file:///a&b;c+d%2525", "/a&b;c+d%25"),
    ])
    func `a file's URI is a path`(text: String, path: String) throws {
        #expect(try OpenedURI(text) == .file(path))
    }

    @Test(arguments: [
        "idown:", "idown:?", "idown:?URL=https%3A%2F%2Fe.org", "idown://?url=https%3A%2F%2Fe.org",
        "idown:https%3A%2F%2Fe.org", "idown:?url=https%3A%2F%2Fe.org&directory=%2Ftmp",
        "idown:?directory=%2Ftmp&url=https%3A%2F%2Fe.org",
        "idown:?url=https%3A%2F%2Fe.org&url=https%3A%2F%2Ff.org",
        "idown:?url=https%3A%2F%2Fe.org;x", "idown:?url=https%3A%2F%2Fe.org#x",
        "idown:?url=https://e.org/a", "idown:?url=https%3A%2F%2Fe.org+a",
        "idown:?url=https%3A%2F%2Fe.org/\u{E9}", "idown:?url=%", "idown:?url=%4", "idown:?url=%zz",
        "idown:?url=https%3A%2F%2Fe.org%2F%FF", "idown:?url=https%3A%2F%2Fe.org%2F%00",
        "idown:?url=https%3A%2F%2Fe.org%2F%0D%0AX",
        "file:", "file:a", "file://", "file://e.org/a", "file:////e.org/a", "file:///a?b",
        "file:///a#b", "file:///a%00b", "file:///a%", "file:///%FF", "file://localhost",
    ])
    func `what is not exactly a link or a file is refused`(text: String) {
        let error = #expect(throws: ManagerError.self) { try OpenedURI(text) }
        #expect(error?.code == .invalidURL)
    }

    @Test func `64 KiB are the limit`() throws {
        let prefix = "https://e.org/"
        let rest = String(repeating: "a", count: (64 << 10) - prefix.utf8.count)
        #expect(try OpenedURI(prefix + rest) == .url(prefix + rest))
        let error = #expect(throws: ManagerError.self) { try OpenedURI(prefix + rest + "a") }
        #expect(error?.code == .limitExceeded)
    }

    @Test func `a refusal repeats nothing of the link`() {
        #expect {
            try OpenedURI("idown:?url=https%3A%2F%2Fme:hunter2@e.org")
        } throws: {
            !"\($0)".contains("hunter2")
        }
    }
}
