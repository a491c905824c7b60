// SPDX-License-Identifier: Apache-2.0

import Curl
import Testing

@Suite struct ProxyRulesTests {
    private func way(
        to url: String,
        _ environment: [String: String]
    ) throws -> String {
        switch ProxyRules(environment: { environment[$0] }).choice(for: try URLReference(url)) {
        case .direct: "direct"
        case .through(let proxy): proxy.address
        case .unusable: "unusable"
        }
    }

    @Test(arguments: [
        (["http_proxy": "p:1"], "http://h/", "http://p:1"),
        (["http_proxy": "p:1"], "https://h/", "direct"),
        (["https_proxy": "p:1"], "https://h/", "http://p:1"),
        (["HTTPS_PROXY": "p:1"], "https://h/", "http://p:1"),
        // A CGI program's client could set this one.
        (["HTTP_PROXY": "p:1"], "http://h/", "direct"),
        (["https_proxy": "p:1", "HTTPS_PROXY": "q:1"], "https://h/", "http://p:1"),
        (["FTP_PROXY": "p:1"], "ftp://h/f", "http://p:1"),
        (["ftp_proxy": "p:1"], "ftps://h/f", "direct"),
        (["ALL_PROXY": "socks5h://p:1"], "sftp://h/f", "socks5h://p:1"),
        (["all_proxy": "p:1", "ALL_PROXY": "q:1"], "http://h/", "http://p:1"),
        (["http_proxy": "p:1", "all_proxy": "q:1"], "http://h/", "http://p:1"),
        (["http_proxy": "", "all_proxy": "q:1"], "http://h/", "http://q:1"),
        (["all_proxy": "gopher://x"], "http://h/", "unusable"),
        ([:], "http://h/", "direct"),
    ])
    func `the environment is read as libcurl reads it`(
        environment: [String: String],
        url: String,
        expected: String
    ) throws {
        #expect(try way(to: url, environment) == expected)
    }

    @Test(arguments: [
        ("*", "h", true), ("h", "h", true), ("H", "h", true), ("h", "x.h", true),
        (".h", "h", true), (".h", "x.h", true), ("h", "xh", false), ("x.h", "h", false),
        ("a, h", "h", true), ("a h", "h", true), ("h.", "h", true), ("h", "h.", true),
        ("a,*", "h", false), (",,", "h", false), (".", "h", false),
        ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "127.0.0.2", false),
        ("127.0.0.0/8", "127.9.9.9", true), ("127.0.0.0/8", "128.0.0.1", false),
        ("10.0.0.128/25", "10.0.0.129", true), ("10.0.0.128/25", "10.0.0.1", false),
        ("10.0.0.0/0", "10.0.0.1", false), ("10.0.0.0/33", "10.0.0.1", false),
        ("10.0.0.0/x", "10.0.0.1", false), ("0.0.1", "127.0.0.1", false),
        ("::1", "[::1]", true), ("[::1]", "[::1]", true), ("fe80::/10", "[fe80::1%25lo]", true),
        ("fd00::/8", "[fd12::1]", true), ("fd00::/8", "[fe80::1]", false),
        ("127.0.0.1", "[::1]", false), ("localhost", "127.0.0.1", false),
    ])
    func `no_proxy takes hosts out`(list: String, host: String, isOut: Bool) throws {
        for name in ["no_proxy", "NO_PROXY"] {
            let environment = ["all_proxy": "p:1", name: list]
            #expect(
                try way(to: "http://\(host)/", environment) == (isOut ? "direct" : "http://p:1")
            )
        }
        let rules = ProxyRules(proxy: "p:1", exceptions: list)
        #expect((rules.choice(for: try URLReference("http://\(host)/")) == .direct) == isOut)
    }

    @Test func `a proxy for both schemes of the web serves it, whatever hosts are excepted`() {
        func serveWeb(_ variables: [String: String]) -> Bool {
            ProxyRules { variables[$0] }.serveWeb
        }
        #expect(!serveWeb([:]))
        #expect(serveWeb(["all_proxy": "p:1", "no_proxy": "localhost,10.0.0.0/8"]))
        #expect(serveWeb(["http_proxy": "p:1", "HTTPS_PROXY": "p:1"]))
        #expect(!serveWeb(["http_proxy": "p:1"]))
        #expect(!serveWeb(["all_proxy": "p:1", "no_proxy": "*"]))
        #expect(ProxyRules(proxy: "p:1", exceptions: "").serveWeb)
    }

    @Test func `without rules every way is direct`() throws {
        #expect(ProxyRules().choice(for: try URLReference("http://h/")) == .direct)
        let unusable = ProxyRules(proxy: "none of these", exceptions: "")
        #expect(unusable.choice(for: try URLReference("http://h/")) == .unusable)
    }
}
