// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@Suite struct OriginTests {
    @Test(
        arguments: [
            ("https://example.org/file?q", "https://example.org:443"),
            ("http://example.org", "http://example.org:80"),
            ("http://example.org?a:8/b@c", "http://example.org:80"),
            ("http://user:pa@ss:8@example.org:8080/x", "http://example.org:8080"),
            ("http://example.org./", "http://example.org:80"),
            ("https://[2001:db8::1]/x", "https://[2001:db8::1]:443"),
            ("https://[2001:db8::1]:8443/x", "https://[2001:db8::1]:8443"),
            ("ftp://example.org/a", "ftp://example.org:21"),
            ("sftp://example.org/a", "sftp://example.org:22"),
            ("other://example.org/a", "other://example.org"),
        ]
    )
    func `a URL leads to a scheme, a host and a port`(url: String, text: String) {
        #expect(Origin(url: url)?.text == text)
    }

    @Test(arguments: ["", "example.org", "http://", "http:///file", "http://user@/x", "://"])
    func `what is no URL leads nowhere`(url: String) {
        #expect(Origin(url: url) == nil)
    }

    @Test(
        arguments: [
            "127.0.0.1", "127.255.3.4", "localhost", "localhost.", "mail.localhost", "[::1]",
            "0.0.0.0", "[::]",
        ]
    )
    func `this computer is there without a network`(host: String) {
        #expect(Origin(url: "http://\(host):8080/")?.isLoopback == true)
    }

    @Test(
        arguments: [
            "128.0.0.1", "127.0.0.1.example.org", "127.0.0", "127.0.0.256", "notlocalhost",
            "127.0.0.1.1", "127..0.1", "127.0.0.", ".127.0.0.1", "127.0.0.x",
            "127.0.0.99999999999999999999",
            "[::2]", "10.0.0.1", "localhost.example.org", "0.0.0.1", "0.0.0", "0.0.0.0.0",
            "0.0.0.0.example.org", "[2001:db8::7f00:1]",
        ]
    )
    func `every other host is another computer`(host: String) {
        #expect(Origin(url: "http://\(host)/")?.isLoopback == false)
    }
}
