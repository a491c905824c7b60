// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus

@Suite struct OpenedURITests {
    @Test(arguments: [
        (
            "idown:?url=https%3A%2F%2Fexample.org%2Fa%3Fb%3Dc%26d",
            "https://example.org/a?b=c&d"
        ),
        ("IDOWN:?url=http%3a%2f%2fexample.org", "http://example.org"),
        ("idown:?url=https%3A%2F%2Fe.org%2Fgr%C3%BC%C3%9Fe%20b", "https://e.org/grüße b"),
        ("idown:?url=https%3A%2F%2Fe.org%2F%2525", "https://e.org/%25"),
        ("https://example.org/a?url=b&c#d", "https://example.org/a?url=b&c#d"),
        ("HTTP://example.org/", "HTTP://example.org/"),
        ("idown:?url=ftp%3A%2F%2Fe.org%2Fa", "ftp://e.org/a"),
        ("ftps://e.org/a", "ftps://e.org/a"), ("sftp://me@e.org/~/a", "sftp://me@e.org/~/a"),
    ])
    func `a URL, or the URL in a link, is opened`(text: String, url: String) throws {
        #expect(try OpenedURI(text).url == url)
    }

    @Test(arguments: [
        "", "idown:", "idown:?", "idown:?url=", "idown:?URL=https%3A%2F%2Fe.org",
        "idown://?url=https%3A%2F%2Fe.org", "idown:https%3A%2F%2Fe.org",
        "idown:?url=https%3A%2F%2Fe.org&directory=%2Ftmp",
        "idown:?directory=%2Ftmp&url=https%3A%2F%2Fe.org",
        "idown:?url=https%3A%2F%2Fe.org&url=https%3A%2F%2Ff.org",
        "idown:?url=https%3A%2F%2Fe.org;x", "idown:?url=https%3A%2F%2Fe.org#x",
        "idown:?url=https://e.org/a", "idown:?url=https%3A%2F%2Fe.org+a",
        "idown:?url=https%3A%2F%2Fe.org/\u{E9}", "idown:?url=%", "idown:?url=%4", "idown:?url=%zz",
        "idown:?url=https%3A%2F%2Fe.org%2F%FF", "idown:?url=https%3A%2F%2Fe.org%2F%00",
        "idown:?url=https%3A%2F%2Fe.org%2F%0D%0AX", "idown:?url=scp%3A%2F%2Fe.org%2Fa",
        "idown:?url=file%3A%2F%2F%2Fetc%2Fpasswd", "idown:?url=javascript%3A1",
        "idown:?url=idown%3A%3Furl%3Dhttps%253A%252F%252Fe.org", "idown:?url=https%3Ae.org",
        " idown:?url=https%3A%2F%2Fe.org", "idown:?url=%20https%3A%2F%2Fe.org",
        "file:///etc/passwd", "/etc/passwd", "scp://e.org/a", "javascript:alert(1)",
        "e.org", "https:/e.org",
    ])
    func `all else is refused`(text: String) {
        #expect(throws: OpenedURI.Refusal.self) { try OpenedURI(text) }
    }

    @Test func `64 KiB are the limit`() throws {
        let prefix = "https://e.org/"
        let rest = String(repeating: "a", count: (64 << 10) - prefix.utf8.count)
        #expect(try OpenedURI(prefix + rest).url.utf8.count == 64 << 10)
        #expect(throws: OpenedURI.Refusal.self) { try OpenedURI(prefix + rest + "a") }
    }

    @Test func `a refusal repeats nothing of the link`() {
        #expect {
            try OpenedURI("scp://me:hunter2@e.org/?hunter2")
        } throws: {
            !"\($0)".contains("hunter2")
        }
    }
}
