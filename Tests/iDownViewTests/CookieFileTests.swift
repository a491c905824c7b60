// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownView

struct CookieFileTests {
    private let text = """
        # Netscape HTTP Cookie File
        .example.org\tTRUE\t/\tFALSE\t0\tall\t1

        www.example.org\tFALSE\t/files\tFALSE\t2000\tfiles\ta=b
        #HttpOnly_www.example.org\tFALSE\t/\tTRUE\t2000\tsecure\ts
        example.org\tFALSE\t/\tFALSE\t999\told\tx
        other.example\tTRUE\t/\tFALSE\t0\tstrange\tx
        """

    @Test(arguments: [
        ("http://example.org/", "all=1"), ("http://www.example.org/", "all=1"),
        ("https://www.example.org/", "all=1; secure=s"),
        ("https://WWW.example.org:443/files/a?x", "files=a=b; all=1; secure=s"),
        ("http://www.example.org/filesystem", "all=1"),
        ("http://www.example.org/files", "files=a=b; all=1"),
    ])
    func `a URL gets the cookies of its host, path and scheme`(url: String, header: String) throws {
        let file = try CookieFile(text)
        #expect(file.header(for: url, now: 1000) == header)
    }

    @Test func `a host may be typed in Unicode`() throws {
        let file = try CookieFile("xn--bcher-kva.example\tFALSE\t/\tFALSE\t0\tn\tv")
        #expect(file.header(for: "http://B\u{FC}cher.example/", now: 0) == "n=v")
    }

    @Test func `only line feeds and carriage returns end a cookie`() throws {
        let lines = ["\u{2028}", "\u{85}\r", "x\r"].map { value in
            "a.org\tFALSE\t/\tFALSE\t0\tn\t\(value)"
        }
        let file = try CookieFile(lines.joined(separator: "\n"))
        let sent = file.header(for: "http://a.org/", now: 0)
        #expect(sent == "n=\u{2028}; n=\u{85}; n=x")
    }

    @Test func `no cookie goes to another host, nor after it has expired`() throws {
        let file = try CookieFile(text)
        for url in [
            "http://notexample.org/", "http://org/", "ftp", "http://example.org.evil.test/",
        ] {
            #expect(file.header(for: url, now: 1000) == nil, "\(url)")
        }
        #expect(file.header(for: "http://example.org/", now: 998) == "all=1; old=x")
        #expect(file.header(for: "https://www.example.org/files", now: 2000) == "all=1")
    }

    @Test func `an expiry may have a fraction of a second`() throws {
        let file = try CookieFile("h.org\tFALSE\t/\tFALSE\t1893456000.123\ta\tb")
        #expect(file.header(for: "http://h.org/", now: 1_893_455_999) == "a=b")
        #expect(file.header(for: "http://h.org/", now: 1_893_456_000) == nil)
    }

    @Test func `an address is no subdomain`() throws {
        let lines = [".0.0.1", ".127.0.0.1"].map { "\($0)\tTRUE\t/\tFALSE\t0\tn\t\($0)" }
        let file = try CookieFile(lines.joined(separator: "\n"))
        #expect(file.header(for: "http://127.0.0.1/", now: 0) == "n=.127.0.0.1")
    }

    @Test(arguments: [
        "a=b; c=d", "example.org\tTRUE\t/\tFALSE\tsoon\tname\tvalue",
        "example.org\tTRUE\t/\tFALSE\t0\t\tvalue", "<html>",
        "example.org\tTRUE\t/\tFALSE\t1.7e9\ta\tb", "example.org\tTRUE\t/\tFALSE\t.5\ta\tb",
    ])
    func `a file of another format is refused`(text: String) {
        let cookies = "# Netscape HTTP Cookie File\r\n\r\nh.org\tFALSE\t/\tFALSE\t0\ta\tb\r\n"
        let error = #expect(throws: CookieFile.BadLine.self) { try CookieFile(cookies + text) }
        #expect(error?.number == 4)
    }

    @Test func `a value may be empty, with or without a tab before it`() throws {
        let file = try CookieFile(
            "h.org\tFALSE\t/\tFALSE\t0\ta\nh.org\tFALSE\t/\tFALSE\t0\tb\t\r\n"
        )
        #expect(file.header(for: "http://h.org/", now: 0) == "a=; b=")
    }
}
