// SPDX-License-Identifier: Apache-2.0

package import Curl

/// The proxies, certificates, logins and time limits that requests use on this computer.
///
/// An empty configuration has no proxies and no logins.
package struct NetworkConfiguration: Sendable {
    /// The rules that choose a proxy for a URL.
    package var proxies = ProxyRules()
    /// The certificates that TLS hosts are checked against.
    package var certificates = TrustedCertificates()
    /// The path of the user's logins, netrc(5); nil for none.
    package var netrcFile: String?
    /// The path of the user's cookies, in Netscape's format; nil for none.
    package var cookieFile: String?
    /// The path of the list of SFTP hosts that the user trusts; nil for none.
    package var knownHostsFile: String?
    /// The paths of private keys for SFTP, the preferred one first.
    package var sshKeys: [String] = []
    /// Whether an SSH agent is available.
    package var hasSSHAgent = false
    /// The user name for SFTP if the URL has none; nil leaves the choice to the host.
    package var userName: String?
    /// The longest total time for name lookup, connecting and the TLS handshake.
    package var connectTimeout: Duration = .seconds(15)
    /// The longest time without a received byte, also before the first one; in whole seconds.
    package var silenceTimeout: Duration = .seconds(60)
    /// Returns how far away an address is; tests replace it.
    package var reach: @Sendable (SocketAddress) -> SocketAddress.Reach = { $0.reach }

    /// Whether a proxy serves the web, so that no captive portal answers in place of its hosts.
    package var hasWebProxy: Bool { proxies.serveWeb }

    /// Copies of the files above.
    private let files = UserFiles()

    package init() {}

    /// Reads the user's environment and uses the usual files in the home folder.
    ///
    /// - Parameters:
    ///   - variable: returns the value of an environment variable; nil if it is not set.
    ///   - home: the absolute path of the user's home folder.
    ///   - userName: the user's login name on this computer.
    package init(environment variable: (String) -> String?, home: String, userName: String?) {
        proxies = ProxyRules(environment: variable)
        certificates = TrustedCertificates(environment: variable)
        let netrc = variable("NETRC") ?? ""
        netrcFile = netrc.isEmpty ? home + "/.netrc" : netrc
        knownHostsFile = home + "/.ssh/known_hosts"
        sshKeys = ["id_ed25519", "id_rsa"].map { "\(home)/.ssh/\($0)" }
        hasSSHAgent = !(variable("SSH_AUTH_SOCK") ?? "").isEmpty
        self.userName = userName
    }

    /// Updates the copies of the user's files that requests get; waits two seconds at most.
    func refreshFiles() async {
        let paths = [netrcFile, cookieFile, knownHostsFile].compactMap(\.self) + sshKeys
        await files.refresh(paths)
    }

    /// Whether there is a cookie file that could not be read.
    var lacksCookieFile: Bool { cookieFile.map { files.copy(of: $0) == nil } ?? false }

    /// Sets a request's proxy, certificates and time limits, but none of the user's secrets.
    func lead(_ request: inout TransferRequest) {
        request.proxy = proxies.choice(for: request.url)
        request.certificates = certificates
        if request.url.scheme == "sftp" { admitKnownHost(to: &request) }
        request.connectTimeout = connectTimeout
        request.silenceTimeout = silenceTimeout
    }

    /// Gives a request the user's logins, cookies and keys for its host.
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

    /// Gives an SFTP request the known keys of its host; without a copy of the user's file, no host
    /// is trusted.
    private func admitKnownHost(to request: inout TransferRequest) {
        guard let knownHostsFile else { return }
        let host = request.url.host
        let lists = KnownHosts.lists(
            of: host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host,
            port: request.url.effectivePort ?? 22,
            in: files.copy(of: knownHostsFile)?.bytes ?? []
        )
        request.ssh.revokedKeys = lists.revoked
        for copy in lists.known.compactMap({ UserFiles.Copy($0) }) {
            request.attachments.append(copy)
            request.ssh.knownHostsFiles.append(copy.path)
        }
    }

    /// Returns how far away the host is that answered; a host behind a proxy or without a known
    /// address counts as `beyond`.
    func reach(of outcome: TransferOutcome) -> SocketAddress.Reach {
        guard outcome.proxy == nil, let host = SocketAddress(outcome.primaryAddress) else {
            return .beyond
        }
        return reach(host)
    }

    /// Returns the path of a copy that exists as long as the request; nil if there is no copy.
    private func copy(of path: String, for request: inout TransferRequest) -> String? {
        guard let copy = files.copy(of: path) else { return nil }
        request.attachments.append(copy)
        return copy.path
    }
}
