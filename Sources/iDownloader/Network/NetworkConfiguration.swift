// SPDX-License-Identifier: Apache-2.0

package import Curl

/// What the user's machine says about the ways to hosts and the logins there.
///
/// Empty it is one without proxies and without a single login.
package struct NetworkConfiguration: Sendable {
    /// Which proxy serves which URL.
    package var proxies = ProxyRules()
    /// What TLS hosts are held against.
    package var certificates = TrustedCertificates()
    /// The user's logins, netrc(5).
    package var netrcFile: String?
    /// The user's cookies, in Netscape's form.
    package var cookieFile: String?
    /// The SFTP hosts that the user trusts.
    package var knownHostsFile: String?
    /// Private keys for SFTP, the preferred first.
    package var sshKeys: [String] = []
    /// Whether an SSH agent can be asked.
    package var hasSSHAgent = false
    /// Who signs in over SFTP where the URL does not say; nil leaves it to the host.
    package var userName: String?
    /// The longest time for name lookup, connecting and the TLS handshake together.
    package var connectTimeout: Duration = .seconds(15)
    /// The longest time without a byte, the first one included; in whole seconds.
    package var silenceTimeout: Duration = .seconds(60)
    /// How far an address is; a test has others than the real ones.
    package var reach: @Sendable (SocketAddress) -> SocketAddress.Reach = { $0.reach }

    /// What stands in the files above.
    private let files = UserFiles()

    package init() {}

    /// What the user's environment and home say.
    ///
    /// - Parameters:
    ///   - variable: gives the value of a variable; nil where it is not set.
    ///   - home: the user's home, an absolute path.
    ///   - userName: the user's name on this machine.
    package init(
        environment variable: (String) -> String?,
        home: String,
        userName: String?
    ) {
        proxies = ProxyRules(environment: variable)
        certificates = TrustedCertificates(environment: variable)
        let netrc = variable("NETRC") ?? ""
        netrcFile = netrc.isEmpty ? home + "/.netrc" : netrc
        knownHostsFile = home + "/.ssh/known_hosts"
        sshKeys = ["id_ed25519", "id_rsa"].map { "\(home)/.ssh/\($0)" }
        hasSSHAgent = !(variable("SSH_AUTH_SOCK") ?? "").isEmpty
        self.userName = userName
    }

    /// Looks whether the user's files have changed, which requests know as they were found last; waits
    /// for two seconds at most.
    func refreshFiles() async {
        let paths = [netrcFile, cookieFile, knownHostsFile].compactMap(\.self) + sshKeys
        await files.refresh(paths, knownHosts: knownHostsFile)
    }

    /// Gives a request the way to its host, and nothing that is a secret of the user's.
    func lead(_ request: inout TransferRequest) {
        request.proxy = proxies.choice(for: request.url)
        request.certificates = certificates
        if request.url.scheme == "sftp" {
            // Without the file no host is known.
            request.ssh.knownHostsFile = knownHostsFile.map {
                copy(of: $0, for: &request) ?? "/dev/null"
            }
        }
        request.connectTimeout = connectTimeout
        request.silenceTimeout = silenceTimeout
    }

    /// Gives a request the logins that the user keeps for its host.
    func signIn(_ request: inout TransferRequest) {
        request.netrcFile = netrcFile.flatMap { copy(of: $0, for: &request) }
        if request.url.isHTTP {
            request.cookieFile = cookieFile.flatMap { copy(of: $0, for: &request) }
        }
        guard request.url.scheme == "sftp", request.credentials?.password == nil else { return }
        request.ssh.logins = hasSSHAgent ? [.agent] : []
        for key in sshKeys {
            guard let path = copy(of: key, for: &request) else { continue }
            request.ssh.logins.append(.key(path: path))
        }
        if request.netrcFile != nil { request.ssh.logins.append(.password) }
    }

    /// How far the host is that has answered; one that nobody has seen is far away.
    func reach(of outcome: TransferOutcome) -> SocketAddress.Reach {
        guard !outcome.wentThroughProxy, let host = SocketAddress(outcome.primaryAddress) else {
            return .beyond
        }
        return reach(host)
    }

    /// Where a copy of a file is found as long as the request lives; nil where there is none.
    private func copy(of path: String, for request: inout TransferRequest) -> String? {
        guard let copy = files.copy(of: path) else { return nil }
        request.attachments.append(copy)
        return copy.path
    }
}
