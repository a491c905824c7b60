// SPDX-License-Identifier: Apache-2.0

import Curl
import Testing

struct URLReferenceResolvingTests {
    @Test(arguments: [
        ("c", "http://u:p@host:81/a/c"), ("/c", "http://u:p@host:81/c"),
        ("../c", "http://u:p@host:81/c"), ("./c?d", "http://u:p@host:81/a/c?d"),
        ("?d", "http://u:p@host:81/a/b?d"), ("", "http://u:p@host:81/a/b?q=/x/y"),
        ("#f", "http://u:p@host:81/a/b?q=/x/y"), ("//other/c", "http://other/c"),
        ("https://other", "https://other/"), (" /c d ", "http://u:p@host:81/c%20d"),
        ("/ü", "http://u:p@host:81/%C3%BC"), ("/c#f", "http://u:p@host:81/c"),
        ("ftp://other/c", "ftp://other/c"), ("/a:b", "http://u:p@host:81/a:b"),
    ])
    func `a location is seen from its base`(location: String, expected: String) throws {
        let base = try URLReference("http://u:p@host:81/a/b?q=/x/y")
        #expect(try base.resolving(location).text == expected)
    }

    @Test(arguments: [
        "///c", "http:/c", "http:c", "mailto:me", "javascript:alert(1)", "/a\\b", "\\\\other\\c",
        "/a\nb", "https://", "//", "//:80", "data:text/plain,x",
        "1a://other/c", "+://other",
    ])
    func `a location that leads nowhere is refused`(location: String) throws {
        let base = try URLReference("http://host/a/b")
        #expect(throws: URLFailure.self) { try base.resolving(location) }
    }
}
