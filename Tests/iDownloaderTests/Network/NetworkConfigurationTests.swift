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
        #expect(network.certificates.file == "/ca.pem")
        #expect(network.certificates.folder == "/ca")
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
        #expect(network.certificates.file == "/bundle")
        #expect(network.certificates.folder == nil)
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
            await network.refreshFiles()
            #expect(try logins("sftp://h/f").ssh.logins == [.agent])
            #expect(try logins("http://h/f").netrcFile == nil)
            #expect(try logins("http://h/f").cookieFile == nil)
            network.sshKeys = [home + "/none", home + "/key"]
            for name in [".netrc", "key", "cookies"] {
                try TestFile.write("in \(name)", to: "\(home)/\(name)")
            }
            await network.refreshFiles()
            let request = try logins("sftp://h/f")
            let key = try #require(request.ssh.logins.dropFirst().first)
            guard case .key(let path) = key else { return #expect(Bool(false), "\(key)") }
            #expect(request.ssh.logins == [.agent, key, .password])
            #expect(try TestFile.text(of: path) == "in key")
            #expect(try TestFile.text(of: #require(request.netrcFile)) == "in .netrc")
            #expect(request.cookieFile == nil)
            let web = try logins("http://h/f")
            #expect(try TestFile.text(of: #require(web.cookieFile)) == "in cookies")
            #expect(web.ssh.logins == [])
        }
    }

    @Test(
        .enabled("needs fuse(4) and python3-fuse") {
            await HangingDisk.canMount(.stoppedProgram)
        }
    )
    func `a file that hangs holds up nobody, and serves those who come later`() async throws {
        try await withTemporaryFolder { home in
            var network = NetworkConfiguration()
            network.netrcFile = home + "/netrc"
            try await withHangingDisk(.stoppedProgram) { disk in
                network.cookieFile = disk.path + "/cookies"
                try TestFile.write("in cookies", to: disk.path + "/cookies")
                try TestFile.write("in netrc", to: home + "/netrc")
                try await disk.hang()
                // Two seconds for the first, nothing for the second.
                let files = network
                try await within("the answer", limit: .seconds(20)) {
                    await files.refreshFiles()
                    await files.refreshFiles()
                }
                var request = TransferRequest(url: try URLReference("http://h/f"))
                network.signIn(&request)
                #expect(request.cookieFile == nil)
                try await disk.answer()
                try await soon("the file to be read") {
                    await files.refreshFiles()
                    var request = TransferRequest(url: try URLReference("http://h/f"))
                    files.signIn(&request)
                    return request.cookieFile != nil
                }
            }
        }
    }
}
