// SPDX-License-Identifier: Apache-2.0

import Curl
import Testing
import iDownTesting
import iDownloader

@testable import iDownloader

@Suite struct NetworkConfigurationTests {
    @Test func `environment and home are read`() {
        let environment = [
            "SSH_AUTH_SOCK": "/run/agent", "SSL_CERT_FILE": "/ca.pem", "SSL_CERT_DIR": "/ca",
        ]
        let network = NetworkConfiguration(
            environment: { environment[$0] },
            home: "/home/me",
            userName: "me"
        )
        #expect(network.netrcFile == "/home/me/.netrc")
        #expect(network.knownHostsFile == "/home/me/.ssh/known_hosts")
        #expect(network.sshKeys == ["/home/me/.ssh/id_ed25519", "/home/me/.ssh/id_rsa"])
        #expect(network.hasSSHAgent)
        #expect(network.certificates == .init(file: "/ca.pem", folder: "/ca"))
        #expect(network.cookieFile == nil)
    }

    @Test func `variables that name files go first`() {
        let environment = [
            "NETRC": "/n", "CURL_CA_BUNDLE": "/bundle", "SSL_CERT_FILE": "/ca.pem",
            "SSL_CERT_DIR": "/ca", "SSH_AUTH_SOCK": "",
        ]
        let network = NetworkConfiguration(
            environment: { environment[$0] },
            home: "/h",
            userName: nil
        )
        #expect(network.netrcFile == "/n")
        #expect(network.certificates == .init(file: "/bundle"))
        #expect(!network.hasSSHAgent)
    }

    @Test func `only files that are there are asked for logins`() async throws {
        try await withTemporaryFolder { home in
            var network = NetworkConfiguration(
                environment: { $0 == "SSH_AUTH_SOCK" ? "/agent" : nil },
                home: home,
                userName: "me"
            )
            network.cookieFile = home + "/cookies"
            func logins(_ url: String) throws -> TransferRequest {
                var request = TransferRequest(url: try URLReference(url))
                network.signIn(&request)
                return request
            }
            #expect(try logins("sftp://h/f").ssh.logins == [.agent])
            #expect(try logins("http://h/f").netrcFile == nil)
            #expect(try logins("http://h/f").cookieFile == nil)
            network.sshKeys = [home + "/none", home + "/key"]
            for name in ["/.netrc", "/key", "/cookies"] { try TestFile.write("", to: home + name) }
            let request = try logins("sftp://h/f")
            #expect(request.ssh.logins == [.agent, .key(path: home + "/key"), .password])
            #expect(request.netrcFile == home + "/.netrc")
            #expect(request.cookieFile == nil)
            #expect(try logins("http://h/f").cookieFile == home + "/cookies")
            #expect(try logins("http://h/f").ssh.logins == [])
        }
    }
}
