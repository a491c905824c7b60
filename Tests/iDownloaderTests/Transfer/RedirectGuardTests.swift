// SPDX-License-Identifier: Apache-2.0

import Curl
import Testing
import iDownState
import iDownTesting
import iDownloader

/// A site out there has no business in sending anybody to this machine.
///
/// 127.0.0.2 and 127.0.0.3 play the part of addresses out there.
@Suite(.timeLimit(.minutes(2))) struct RedirectGuardTests {
    /// Sends everybody on: `/go?URL` to the URL.
    private func withSiteOutThere(
        _ locations: String = "",
        _ body: (String, NetworkConfiguration) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { root in
            let port = try FreePort.find()
            let config = """
                listen 127.0.0.2:\(port); listen 127.0.0.3:\(port);
                location = /go { return 302 $args; }
                location = /file.bin { return 200 "out there"; }
                \(locations)
                """
            var network = NetworkConfiguration()
            network.reach = { address in
                [SocketAddress("127.0.0.2"), SocketAddress("127.0.0.3")].contains(address)
                    ? .beyond : address.reach
            }
            let local = network
            try await withNginx(root: root, extraConfig: config) { _ in
                try await body("http://127.0.0.2:\(port)", local)
            }
        }
    }

    @Test(arguments: [
        "127.0.0.1", "localhost", "[::1]", "0.0.0.0", "[::]", "[::ffff:127.0.0.1]", "2130706433",
        "0x7f.1", "127.1", "LOCALHOST", "[::ffff:0:0]",
    ])
    func `a redirect from out there to this machine is refused`(host: String) async throws {
        try await withServer({ Sample.file.answer(to: $0) }) { victim in
            try await withSiteOutThere { site, network in
                try await withSite(network: network) { here in
                    let target = "http://\(host):\(victim.port)/file.bin"
                    let journal = try await here.download("\(site)/go?\(target)")
                    expectFailure(.serverBadResponse, isTransient: false, here, journal)
                    #expect(here.files.isEmpty)
                    #expect(victim.requests.isEmpty)
                }
            }
        }
    }

    @Test(arguments: ["169.254.169.254", "[fe80::1]"])
    func `a redirect to a link-local address is refused`(host: String) async throws {
        try await withSiteOutThere { site, network in
            try await withSite(network: network) { here in
                let journal = try await here.download("\(site)/go?http://\(host)/file.bin")
                expectFailure(.serverBadResponse, isTransient: false, here, journal)
            }
        }
    }

    @Test func `neither a detour nor an open connection leads to this machine`() async throws {
        try await withServer({ Sample.file.answer(to: $0) }) { victim in
            try await withSiteOutThere { site, network in
                try await withSite(network: network) { here in
                    let local = try await here.download(victim.url("/file.bin"))
                    expectComplete(Sample.content, here, local)
                    let detour = site.replacing("127.0.0.2", with: "127.0.0.3") + "/go?"
                    for way in ["", detour] {
                        let url = "\(site)/go?\(way)\(victim.url("/file.bin"))"
                        let journal = try here.task(url, id: 2)
                        try await here.run(journal)
                        #expect(journal.record.failure?.code == .serverBadResponse)
                    }
                    #expect(victim.requests.count == 1)
                }
            }
        }
    }

    /// A metalink of one file, as nginx is to answer with it.
    private func metalink(_ url: String) -> String {
        """
        location = /list.meta4 {
            return 200 '<metalink><file name="listed.bin"><url>\(url)</url></file></metalink>';
        }
        """
    }

    /// libcurl itself knows that every name below `localhost` is this machine's (RFC 6761 section
    /// 6.3), so that the name leads here as one in the DNS could.
    @Test func `a file that a metalink from out there lists is not fetched from this machine`()
        async throws
    {
        try await withServer({ Sample.file.answer(to: $0) }) { victim in
            let url = "http://files.localhost:\(victim.port)/file.bin"
            try await withSiteOutThere(metalink(url)) { site, network in
                try await withSite(network: network) { here in
                    let list = try await here.download("\(site)/list.meta4")
                    let listed = try #require(list.listed.first?.request)
                    #expect(listed.url == url)
                    let journal = try here.task(url, id: 2) { $0 = listed }
                    try await here.run(journal)
                    #expect(journal.record.failure?.code == .serverBadResponse)
                    #expect(journal.record.failure?.isTransient == false)
                    #expect(victim.requests.isEmpty)
                    // A link that the user gives is the user's own, wherever it leads.
                    try journal.setURL(url + "?again")
                    try await here.run(journal)
                    #expect(journal.record.state == .completed)
                }
            }
        }
    }

    @Test func `a file that a metalink of this machine lists may be on it as well`() async throws {
        try await withServer({ Sample.file.answer(to: $0) }) { victim in
            let url = "http://files.localhost:\(victim.port)/file.bin"
            try await withSiteOutThere(metalink(url)) { site, _ in
                try await withSite { here in
                    let list = try await here.download("\(site)/list.meta4")
                    let listed = try #require(list.listed.first?.request)
                    let journal = try here.task(url, id: 2) { $0 = listed }
                    try await here.run(journal)
                    #expect(journal.record.state == .completed)
                    #expect(here.holds(Sample.content, as: "listed.bin"))
                }
            }
        }
    }

    @Test func `the client itself may name this machine, and out there all may be named`()
        async throws
    {
        try await withSiteOutThere { site, network in
            try await withSite(network: network) { here in
                let other = site.replacing("127.0.0.2", with: "127.0.0.3")
                let journal = try await here.download("\(site)/go?\(other)/file.bin")
                expectComplete(TestContent(Array("out there".utf8)), here, journal)
            }
        }
        try await withServer({ request in
            guard request.path == "/go" else { return Sample.file.answer(to: request) }
            return [.head("302 Found", [("Location", "/file.bin"), ("Content-Length", "0")])]
        }) { server in
            try await withSite { here in
                expectComplete(Sample.content, here, try await here.download(server.url("/go")))
            }
        }
    }

    @Test func `through a proxy nothing is refused, beside it all is`() async throws {
        try await withServer({ request in
            guard request.target.contains("/go") else { return Sample.file.answer(to: request) }
            let fields = [("Location", "http://127.0.0.1:1/file.bin"), ("Content-Length", "0")]
            return [.head("302 Found", fields)]
        }) { proxy in
            for exceptions in ["", "127.0.0.0/8"] {
                var network = NetworkConfiguration()
                network.proxies = ProxyRules(
                    proxy: "http://127.0.0.1:\(proxy.port)",
                    exceptions: exceptions
                )
                try await withSite(network: network) { here in
                    let journal = try await here.download("http://out.test/go")
                    if exceptions.isEmpty {
                        expectComplete(Sample.content, here, journal)
                    } else {
                        expectFailure(.serverBadResponse, isTransient: false, here, journal)
                    }
                }
            }
        }
    }

    @Test func `a mirror that a site has named is no way here, neither in a later attempt`()
        async throws
    {
        try await withServer({ Sample.file.answer(to: $0) }) { victim in
            try await withServer({ _ in Sample.file.cutOff() }) { breaking in
                let locations = """
                    location = /wrong.bin {
                        add_header Link "<\(victim.url("/file.bin"))>; rel=duplicate";
                        add_header Link "</breaks.bin>; rel=duplicate";
                        return 200 "something else";
                    }
                    location = /breaks.bin {
                        proxy_buffering off;
                        proxy_pass \(breaking.url("/file.bin"));
                    }
                    """
                try await withSiteOutThere(locations) { site, network in
                    try await withSite(network: network) { here in
                        let journal = try here.task("\(site)/wrong.bin") {
                            $0.checksum = Checksum.Algorithm.sha256.checksum(of: Sample.content)
                        }
                        for _ in 0..<2 {
                            try await here.run(journal)
                            #expect(journal.record.failure?.isTransient == true)
                        }
                        #expect(journal.record.segments.byteCount > 0)
                        #expect(breaking.requests.count > 1)
                        #expect(victim.requests.isEmpty)
                    }
                }
            }
        }
    }
}
