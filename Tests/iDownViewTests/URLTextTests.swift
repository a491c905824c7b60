// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownView

struct URLTextTests {
    @Test(arguments: [
        ("example.org/x.iso", "https://example.org/x.iso"), ("example.org", "https://example.org"),
        ("localhost:8080/x", "https://localhost:8080/x"), ("[::1]/x", "https://[::1]/x"),
        ("[::1]:80/x", "https://[::1]:80/x"), ("bücher.example/a", "https://bücher.example/a"),
        ("example.org?id=http:1", "https://example.org?id=http:1"),
    ])
    func `a text that begins with a host gets https`(typed: String, url: String) {
        #expect(URLText.completed(typed) == url)
    }

    @Test(arguments: [
        "http://example.org/", "foo", "mailto:me@example.org", "me@example.org/x", "no URL.org",
        "", "/a.b", ".a", "-x.y", "host:port/x", "a.b:99999/", "data:,x", "idown:?url=x",
    ])
    func `a text that does not begin with a host gets no scheme`(typed: String) {
        #expect(URLText.completed(typed) == nil)
    }

    @Test(arguments: [
        ("/", "file:///"), ("/a/b.iso", "file:///a/b.iso"),
        ("/ä b%/\n", "file:///%C3%A4%20b%25/%0A"),
        ("/a#?&;'\"", "file:///a%23%3F%26%3B%27%22"), ("/Az09-._~", "file:///Az09-._~"),
    ])
    func `a file URI is ASCII without spaces`(path: String, text: String) {
        #expect(URLText.ofFile(path) == text)
    }

    @Test func `a URL is split into its parts`() throws {
        let url = try #require(URLText("HTTPS://me:secret@Example.org:8443/a/b?c=/d#e"))
        #expect(url.scheme == "https" && url.host == "example.org" && url.port == "8443")
        #expect(url.path == "/a/b" && url.query == "?c=/d")
        #expect(URLText("http://h") == URLText("http://h/"))
        #expect(URLText("http://h/a") != URLText("http://h:81/a"))
        let typed = URLText("http://h/\u{E4} b.bin?q=\u{E4}")
        #expect(typed?.encoded == URLText("http://h/%C3%A4%20b.bin?q=%C3%A4"))
        for typed in [
            " http://B\u{FC}cher.example:80/./a/x/../b", "http://xn--bcher-kva.example:080/a/b",
        ] {
            #expect(URLText(typed)?.encoded == URLText("http://xn--bcher-kva.example/a/b"))
        }
        #expect(URLText("http://h/a/..")?.encoded == URLText("http://h/"))
        #expect(URLText("h/a") == nil && URLText("http:///a") == nil)
    }
}
