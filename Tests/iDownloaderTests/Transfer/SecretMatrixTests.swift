// SPDX-License-Identifier: Apache-2.0

import Curl
import Testing
import iDownState
import iDownTesting
import iDownloader

/// What the client gives is for its scheme, host and port; every way out of there is a row.
@Suite(.timeLimit(.minutes(2))) struct SecretMatrixTests {
    /// Every secret holds this word.
    private static let secret = "geheim"

    /// A task with a secret of every kind, and logins kept for the host by name.
    private func withSecrets(
        _ body: (NetworkConfiguration, @escaping @Sendable (inout TaskRequest) -> Void)
            async throws -> Void
    ) async throws {
        try await withTemporaryFolder { home in
            let hosts = ["127.0.0.1", "127.0.0.2", "localhost"]
            try TestFile.write(
                hosts.map { "machine \($0) login \(Self.secret) password \(Self.secret)\n" }
                    .joined(),
                to: home + "/netrc"
            )
            try TestFile.write(
                hosts.map { "\($0)\tFALSE\t/\tFALSE\t0\tkept\t\(Self.secret)\n" }.joined(),
                to: home + "/cookies"
            )
            var network = NetworkConfiguration()
            network.netrcFile = home + "/netrc"
            network.cookieFile = home + "/cookies"
            try await body(network) { request in
                request.headers = [
                    .init(name: "X-Auth-Token", value: Self.secret),
                    .init(name: "PRIVATE-TOKEN", value: Self.secret),
                ]
                request.referrer = "http://example.org/\(Self.secret)"
            }
        }
    }

    private static let challenge: [Step] = [
        .head("401 No", [("WWW-Authenticate", "Basic realm=\"r\""), ("Content-Length", "0")])
    ]

    private static func holdsSecret(_ request: RecordedRequest) -> Bool {
        let text = request.target + request.fields.map { $0.name + $0.value }.joined()
        // geheim:geheim in Base64.
        return text.contains(secret) || text.contains("Z2VoZWlt")
    }

    /// A place that the home redirects to, told from the home by port, name or address.
    enum Elsewhere: CaseIterable {
        case otherPort, otherName, otherAddress, userInfo

        func url(home: UInt16, other: UInt16) -> String {
            switch self {
            case .otherPort: "http://127.0.0.1:\(other)/file.bin"
            case .otherName: "http://localhost:\(home)/file.bin"
            case .otherAddress: "http://[::ffff:127.0.0.1]:\(home)/file.bin"
            case .userInfo: "http://127.0.0.1:\(home)@127.0.0.1:\(other)/file.bin"
            }
        }
    }

    @Test(arguments: Elsewhere.allCases)
    func `no secret leaves its origin`(place: Elsewhere) async throws {
        try await withServer({ Sample.file.answer(to: $0) }) { other in
            let port = other.port
            try await withServer({ request in
                guard request.path == "/start" else { return Sample.file.answer(to: request) }
                guard request["Authorization"] != nil else { return Self.challenge }
                let home = request["Host"]?.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
                let target = place.url(home: home, other: port)
                return [.head("302 Found", [("Location", target), ("Content-Length", "0")])]
            }) { home in
                try await withSecrets { network, choose in
                    try await withSite(network: network) { site in
                        let url = home.url("/start?\(Self.secret)")
                        let journal = try await site.download(url, change: choose)
                        expectComplete(Sample.content, site, journal)
                        let first = try #require(home.requests.dropFirst().first)
                        #expect(first["Authorization"] == "Basic Z2VoZWltOmdlaGVpbQ==")
                        #expect(first["Cookie"] == "kept=geheim")
                        #expect(first["X-Auth-Token"] == Self.secret)
                        let away = Array(home.requests.dropFirst(2)) + other.requests
                        #expect(away.count == 1)
                        #expect(!away.contains(where: Self.holdsSecret), "\(away)")
                    }
                }
            }
        }
    }

    @Test func `the user's own logins are not for what a web page may have asked for`()
        async throws
    {
        try await withServer({ Sample.file.answer(to: $0) }) { server in
            try await withSecrets { network, _ in
                try await withSite(network: network) { site in
                    let journal = try await site.download(server.url("/file.bin")) {
                        $0.usesStoredLogins = false
                    }
                    expectComplete(Sample.content, site, journal)
                    #expect(!server.requests.contains(where: Self.holdsSecret))
                }
            }
        }
    }

    @Test func `what was said under cover is not said in the open`() async throws {
        try await withServer({ Sample.file.answer(to: $0) }) { open in
            try await withTemporaryFolder { folder in
                let certificates = try await TestCertificates(in: folder)
                let port = try FreePort.find()
                let target = "http://\(Self.secret):\(Self.secret)@127.0.0.1:\(open.port)/file.bin"
                let tls = """
                    listen 127.0.0.1:\(port) ssl http2; ssl_certificate \(certificates.server);
                    ssl_certificate_key \(certificates.server);
                    location = /start { return 302 \(target); }
                    """
                try await withNginx(root: folder, extraConfig: tls) { _ in
                    try await withSecrets { network, choose in
                        var network = network
                        network.certificates.file = certificates.authority
                        try await withSite(network: network) { site in
                            let url = "https://\(Self.secret):x@127.0.0.1:\(port)/start"
                            let journal = try await site.download(url, change: choose)
                            expectComplete(Sample.content, site, journal)
                            #expect(open.requests.count == 1)
                            #expect(!open.requests.contains(where: Self.holdsSecret))
                        }
                    }
                }
            }
        }
    }

    @Test func `an interrupted download keeps its secrets at home as well`() async throws {
        try await withServer({ request in
            request.number == 1 ? Sample.file.cutOff() : Sample.file.answer(to: request)
        }) { other in
            let target = other.url("/file.bin")
            try await withServer({ _ in
                [.head("302 Found", [("Location", target), ("Content-Length", "0")])]
            }) { home in
                try await withSecrets { network, choose in
                    try await withSite(network: network) { site in
                        let journal = try site.task(home.url("/start"), change: choose)
                        try await site.run(journal)
                        #expect(journal.record.failure?.code == .serverTruncated)
                        try await site.run(journal)
                        expectComplete(Sample.content, site, journal)
                        #expect(home.requests.allSatisfy(Self.holdsSecret))
                        #expect(other.requests.count >= 2)
                        #expect(!other.requests.contains(where: Self.holdsSecret))
                    }
                }
            }
        }
    }
}
