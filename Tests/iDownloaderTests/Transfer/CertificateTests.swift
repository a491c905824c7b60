// SPDX-License-Identifier: Apache-2.0

import Curl
import Testing
import iDownState
import iDownTesting
import iDownloader

/// Hosts whose certificates are not to be trusted: nothing of them is stored, and they are not
/// asked again and again.
@Suite(.timeLimit(.minutes(2))) struct CertificateTests {
    enum Doubt: CaseIterable, Sendable {
        case expired, selfSigned, unknownAuthority, otherHost
    }

    @Test(arguments: Doubt.allCases)
    func `a certificate that is not to be trusted fails for good`(doubt: Doubt) async throws {
        try await withTemporaryFolder { folder in
            try Sample.content.write(toFile: folder + "/file.bin")
            let certificates = try await TestCertificates(in: folder)
            let shown =
                switch doubt {
                case .expired: try await certificates.expired(in: folder)
                case .selfSigned: try await certificates.selfSigned(in: folder)
                case .unknownAuthority, .otherHost: certificates.server
                }
            let port = try FreePort.find()
            let tls = """
                listen 127.0.0.1:\(port) ssl http2; listen 127.0.0.2:\(port) ssl http2;
                ssl_certificate \(shown); ssl_certificate_key \(shown);
                access_log \(folder)/access.log;
                """
            try await withNginx(root: folder, extraConfig: tls) { _ in
                var network = NetworkConfiguration()
                if doubt != .unknownAuthority { network.certificates.file = certificates.authority }
                try await withSite(network: network) { site in
                    let host = doubt == .otherHost ? "127.0.0.2" : "localhost"
                    let url = "https://\(host):\(port)/file.bin"
                    let journal = try await site.download(url) {
                        $0.headers = [.init(name: "X-Key", value: "secret")]
                    }
                    expectFailure(.networkTLS, isTransient: false, site, journal)
                    #expect(journal.record.tries == 1)
                    #expect(site.files.isEmpty)
                    #expect(journal.record.file == nil)
                }
            }
            // No request came through, and so no header of the client's.
            #expect(try TestFile.text(of: folder + "/access.log").isEmpty)
        }
    }

    /// A network that wants somebody to sign in answers in the place of every host.
    @Test func `where the host has answered before, a wrong certificate may pass`() async throws {
        try await withTemporaryFolder { folder in
            try Sample.content.write(toFile: folder + "/file.bin")
            let certificates = try await TestCertificates(in: folder)
            let other = try await certificates.selfSigned(in: folder)
            let port = try FreePort.find()
            let tls = """
                listen 127.0.0.1:\(port) ssl; ssl_certificate \(certificates.server);
                ssl_certificate_key \(certificates.server); error_page 404 = /busy;
                location = /busy { return 503; }
                keepalive_timeout 0;
                """
            try await withNginx(root: folder, extraConfig: tls) { _ in
                var network = NetworkConfiguration()
                network.certificates.file = certificates.authority
                try await withSite(network: network) { site in
                    let journal = try site.task("https://localhost:\(port)/later.bin")
                    try await site.run(journal)
                    expectFailure(.serverBusy, isTransient: true, site, journal)
                    site.engine.network.certificates.file = other
                    try await site.run(journal)
                    expectFailure(.networkTLS, isTransient: true, site, journal)
                    site.engine.network = network
                    try Sample.content.write(toFile: folder + "/later.bin")
                    try await site.run(journal)
                    expectComplete(Sample.content, as: "later.bin", site, journal)
                }
            }
        }
    }
}
