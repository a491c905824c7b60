// SPDX-License-Identifier: Apache-2.0

import CCurl
import Glibc

/// One running transfer: the state behind libcurl's callbacks.
///
/// Belongs to the pool's thread. The easy handle holds an unowned pointer to it; the pool keeps
/// it until the easy handle has left the multi handle.
final class EasyTransfer {
    let handle: TransferHandle
    private(set) var easy: EasyHandle
    private let sink: any TransferSink
    /// Without the SSH logins and the files of known hosts that were tried in vain.
    private var request: TransferRequest
    private(set) var isPaused = false
    /// Whether the sink keeps bytes, and has to be told when no more come for now.
    private(set) var isKept = false
    /// Whether an FTP or SFTP server has said how many bytes come; otherwise only its last reply
    /// tells that they were all.
    private var knowsLength = false
    /// Whether the wait for that reply was already limited to ``patienceForLastReply``.
    private var awaitsLastReply = false
    /// How many seconds to wait for the last reply.
    ///
    /// Servers send it with their last byte. Where a network has forgotten the control connection
    /// meanwhile, it never comes.
    private static let patienceForLastReply = 3
    private let running: RunningTransfers
    /// The sockets that were made for this transfer.
    private var opened: [Int32] = []
    /// Whether it was about to disturb another transfer on its connection, or to get bytes that
    /// were left there.
    ///
    /// It has then sent nothing.
    private var wasIntruder = false
    private var wasRefusedAddress = false
    private var hostKeyDoubt: TransferOutcome.HostKeyDoubt?
    private var replies = ControlReplies()
    private var hasToldFile = false
    private var signIn: HTTPSignIn
    /// Whether the host or the proxy wants another sign-in method than the one that was tried.
    private var mustSignInOtherwise = false
    private var hasBegunAnew = false
    /// Whether the proxy has got the login with the first request of a connection, because it had
    /// closed the one before.
    private var hasSignedInAtOnce = false

    /// Sets `easy`, which must be fresh or reset, up for the request.
    init(
        _ request: TransferRequest,
        on easy: EasyHandle,
        sink: any TransferSink,
        handle: TransferHandle,
        among running: RunningTransfers
    ) throws(CurlFailure) {
        signIn = HTTPSignIn(request, running.signIns)
        self.handle = handle
        self.running = running
        self.easy = easy
        self.sink = sink
        self.request = request
        try configure()
    }

    private func configure() throws(CurlFailure) {
        let login = request.ssh.logins.first
        try easy.apply(request, signingInBy: login)
        signIn = HTTPSignIn(request, running.signIns)
        try signIn.apply(to: easy)
        let context = Unmanaged.passUnretained(self).toOpaque()
        try easy.set(CURLOPT_WRITEDATA, context)
        try easy.set(CURLOPT_HEADERDATA, context)
        try easy.set(CURLOPT_OPENSOCKETDATA, context)
        try easy.set(CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            let body = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return EasyTransfer.of(context)?.receive(body: body) ?? 0
        }
        try easy.set(CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return EasyTransfer.of(context)?.receive(header: line) ?? 0
        }
        try easy.set(openSocket: { context, _, address in
            guard let address else { return CURL_SOCKET_BAD }
            return EasyTransfer.of(context)?.open(address) ?? CURL_SOCKET_BAD
        })
        if wasIntruder { try easy.set(CURLOPT_FRESH_CONNECT, 1) }
        try easy.set(CURLOPT_PREREQDATA, context)
        try easy.set(beforeRequest: { context, address, _, port, localPort in
            let transfer = EasyTransfer.of(context)
            let mayBegin = transfer?.mayBegin(at: address, port: port, localPort: localPort)
            return mayBegin == true ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        })
        if request.url.scheme == "sftp" {
            // A request without a known hosts file is refused; with none set libcurl trusts any host.
            try easy.set(CURLOPT_SSH_KNOWNHOSTS, request.ssh.knownHostsFiles.first ?? "/dev/null")
            try easy.set(CURLOPT_SSH_KEYDATA, context)
            try easy.set(judgeHostKey: { _, known, _, match, context in
                let isTrusted = EasyTransfer.of(context)?.trusts(match, known?.pointee) == true
                let answer = isTrusted ? CURLKHSTAT_FINE : CURLKHSTAT_REJECT
                return Int32(bitPattern: answer.rawValue)
            })
        }
    }

    /// Returns the transfer that a callback belongs to; nil would be our own mistake, and ends the
    /// transfer.
    private static func of(_ context: UnsafeMutableRawPointer?) -> EasyTransfer? {
        context.map { Unmanaged<EasyTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Whether it uses FTP or SFTP, with or without TLS.
    var isFromFileServer: Bool { !request.url.isHTTP }

    /// Whether there is an SFTP login that was not tried yet.
    private func hasAnotherLogin(after code: CurlCode) -> Bool {
        code == .loginDenied && request.url.scheme == "sftp" && request.ssh.logins.count > 1
    }

    /// Whether the SSH host has no key of the kind it was asked for, and there is another file of
    /// known hosts.
    private func hasAnotherKeyKind(after code: CurlCode) -> Bool {
        // LIBSSH2_ERROR_KEX_FAILURE: host and libssh2 share no algorithm.
        code == .failedInitialization && request.url.scheme == "sftp"
            && easy.failureText.contains("ssh session: -5,")
            && request.ssh.knownHostsFiles.count > 1
    }

    private func mayTunnelOtherwise(after code: CurlCode) -> Bool {
        !hasSignedInAtOnce && signIn.mayTunnelOtherwise(of: easy, after: code)
    }

    /// Whether to send it again: over its own connection, with another login, or asking for a host
    /// key of another kind.
    func mustBeginAnew(after code: CurlCode) -> Bool {
        guard code != .ok else { return false }
        return wasIntruder || mustSignInOtherwise || hasAnotherLogin(after: code)
            || hasAnotherKeyKind(after: code) || mayTunnelOtherwise(after: code)
    }

    /// Sets another handle, which must be fresh, up to run the request again.
    ///
    /// The previous handle keeps its receive buffer, and would refuse another size for it.
    func beginAnew(on easy: EasyHandle, after code: CurlCode) throws(CurlFailure) {
        if hasAnotherLogin(after: code) { request.ssh.logins.removeFirst() }
        if hasAnotherKeyKind(after: code) { request.ssh.knownHostsFiles.removeFirst() }
        if mayTunnelOtherwise(after: code) { hasSignedInAtOnce = signIn.tunnelOtherwise() }
        replies = ControlReplies()
        self.easy = easy
        try configure()
        hasBegunAnew = hasBegunAnew || mustSignInOtherwise
        mustSignInOtherwise = false
        wasIntruder = false
    }

    /// Prepares the handle to be removed from its multi handle.
    func prepareForRemoval() { if request.url.scheme == "sftp" { easy.hurry() } }

    /// Continues reading after a pause; the sink may be called before this returns, and pause
    /// again.
    func resume() throws(CurlFailure) {
        guard isPaused else { return }
        isPaused = false
        try easy.unpause()
    }

    /// Returns how the transfer ended.
    func outcome(_ result: CurlCode, message: String? = nil) -> TransferOutcome {
        let failure = easy.failureText
        var text = ""
        if result != .ok { text = message ?? (failure.isEmpty ? result.description : failure) }
        var outcome = TransferOutcome(result, text)
        outcome.status = easy.number(CURLINFO_RESPONSE_CODE) ?? 0
        // Where a part was asked for, libcurl tells the reply to ABOR: that to RETR is in its text
        // (lib/ftp.c).
        if result == .couldNotRetrieve, let last = text.split(separator: " ").last,
            let reply = Int(last)
        {
            outcome.status = reply
        }
        outcome.loginRefusal = replies.loginRefusal
        outcome.primaryAddress = easy.text(CURLINFO_PRIMARY_IP) ?? ""
        outcome.isFromFileServer = isFromFileServer
        outcome.proxy = request.proxy.server?.authority
        outcome.osError = Int32(truncatingIfNeeded: easy.number(CURLINFO_OS_ERRNO) ?? 0)
        outcome.openedConnections = easy.number(CURLINFO_NUM_CONNECTS) ?? 0
        outcome.wasRefusedAddress = wasRefusedAddress
        outcome.proxyStatus = easy.number(CURLINFO_HTTP_CONNECTCODE) ?? 0
        outcome.hostKeyDoubt = hostKeyDoubt
        outcome.firstByteTime = .microseconds(easy.offset(CURLINFO_STARTTRANSFER_TIME_T) ?? 0)
        return outcome
    }

    /// Tells a sink that keeps bytes that no more come for now.
    func concludeTurn() {
        guard isKept else { return }
        isKept = false
        sink.bodyPauses()
    }

    /// Whether the connection's local address is not among these, so that no answer can come any
    /// more.
    func isCutOff(from addresses: Set<SocketAddress>) -> Bool {
        guard let text = easy.text(CURLINFO_LOCAL_IP), let address = SocketAddress(text) else {
            return false
        }
        // An interface has only one address of 127.0.0.0/8.
        if address.isLoopback, addresses.contains(where: \.isLoopback) { return false }
        return !addresses.contains(address)
    }

    // MARK: From the callbacks

    /// Tells the sink about an empty file, for which no byte comes.
    func concludeBody() { tellFile(isEmpty: true) }

    /// Gives the sink a head that was held back, once no other head follows.
    @discardableResult func releaseHead() -> Bool {
        signIn.release().allSatisfy { line in
            line.withUnsafeBytes { sink.receive(headerLine: $0) }
        }
    }

    /// Tells the sink, once, what an FTP or SFTP server has said.
    private func tellFile(isEmpty: Bool = false) {
        guard !request.url.isHTTP, !hasToldFile else { return }
        hasToldFile = true
        let file = remoteFile(isEmpty: isEmpty)
        knowsLength = file.length != nil
        sink.receive(remoteFile: file)
    }

    private func remoteFile(isEmpty: Bool) -> RemoteFile {
        let known = { (value: Int64?) in value.flatMap { $0 >= 0 ? $0 : nil } }
        let modified = known(easy.offset(CURLINFO_FILETIME_T))
        // For an empty file over SFTP, libcurl gives no length and requests no byte.
        var length = known(easy.offset(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)) ?? (isEmpty ? 0 : nil)
        let start = request.range?.first
        let announced = replies.size(knowsTime: modified != nil)
        if request.readsToEnd, let announced { length = max(0, announced - (start ?? 0)) }
        let end = request.range?.last == nil ? length.flatMap { Self.sum(start ?? 0, $0) } : nil
        // If both are known, they must be equal.
        let size = announced ?? (request.url.scheme == "sftp" ? end : nil)
        return RemoteFile(
            size: end == nil || end == size ? size : nil,
            modified: modified,
            offset: start,
            length: length
        )
    }

    /// Returns nil for a sum that no file can have, because a reply may contain any number.
    private static func sum(_ offset: Int64, _ length: Int64) -> Int64? {
        let (sum, overflow) = offset.addingReportingOverflow(length)
        return overflow ? nil : sum
    }

    private func receive(header bytes: UnsafeRawBufferPointer) -> Int {
        guard request.url.isHTTP else {
            return replies.read(bytes) ? bytes.count : refusal(of: bytes)
        }
        // Behind one name may be several servers: a kept connection would lead to the one that has
        // failed again. libcurl keeps it where another stream of HTTP/2 still uses it.
        if bytes.count <= 2, let status = easy.number(CURLINFO_RESPONSE_CODE),
            status >= 500 || status == 421
        {
            try? easy.set(CURLOPT_FORBID_REUSE, 1)
        }
        switch signIn.read(bytes, of: easy, mayBeginAnew: !hasBegunAnew) {
        case .pass:
            return sink.receive(headerLine: bytes) ? bytes.count : refusal(of: bytes)
        case .last:
            _ = sink.receive(headerLine: bytes)
            return refusal(of: bytes)
        case .held:
            return bytes.count
        case .release:
            return releaseHead() ? bytes.count : refusal(of: bytes)
        case .beginAnew:
            _ = signIn.release()
            mustSignInOtherwise = true
            return refusal(of: bytes)
        }
    }

    private func receive(body bytes: UnsafeRawBufferPointer) -> Int {
        tellFile()
        guard releaseHead() else { return refusal(of: bytes) }
        // The last reply ends the file, and libcurl blocks until it comes, with all transfers of
        // this thread (ftp_done in lib/ftp.c of 7.88).
        if request.url.isFTP, knowsLength, !awaitsLastReply {
            awaitsLastReply = true
            try? easy.set(CURLOPT_SERVER_RESPONSE_TIMEOUT, Self.patienceForLastReply)
        }
        let verdict = sink.receive(body: bytes)
        switch verdict {
        case .taken, .kept:
            isKept = verdict == .kept
            return bytes.count
        case .pause:
            isPaused = true
            return Int(CURL_WRITEFUNC_PAUSE)
        case .abort:
            return refusal(of: bytes)
        }
    }

    /// Returns a count other than the offered one, which means failure; CURLOPT_WRITEFUNCTION(3).
    private func refusal(of bytes: UnsafeRawBufferPointer) -> Int { bytes.isEmpty ? 1 : 0 }

    private func open(_ address: UnsafePointer<curl_sockaddr>) -> curl_socket_t {
        guard admits(SocketAddress(address)) else { return CURL_SOCKET_BAD }
        // libcurl's own socket would be inherited by every program that the process starts.
        let flags = Int32(bitPattern: SOCK_CLOEXEC.rawValue)
        let socket = Glibc.socket(
            address.pointee.family,
            address.pointee.socktype | flags,
            address.pointee.protocol
        )
        opened.append(socket)
        return socket
    }
}

extension EasyTransfer {
    private func admits(_ address: SocketAddress) -> Bool {
        guard let admits = request.admits, !admits(address) else { return true }
        wasRefusedAddress = true
        return false
    }

    /// Whether to send the request, once the connection is made or chosen.
    private func mayBegin(
        at address: UnsafePointer<CChar>?,
        port: Int32,
        localPort: Int32
    ) -> Bool {
        let text = address.map { String(cString: $0) } ?? ""
        let key = ConnectionSockets.Key(address: text, port: port, localPort: localPort)
        // Only HTTP/2 lets libcurl take a connection that another transfer uses.
        if (request.httpVersion == .http2 && running.isIntruder(self)) || hasLeftovers(key) {
            wasIntruder = true
            return false
        }
        return admits(SocketAddress(text) ?? .other)
    }

    /// Whether the connection has served another request and still holds bytes.
    private func hasLeftovers(_ key: ConnectionSockets.Key) -> Bool {
        guard easy.number(CURLINFO_NUM_CONNECTS) == 0 else {
            running.sockets.note(key, madeOn: opened, isFileServer: isFromFileServer)
            return false
        }
        guard request.url.isHTTP else { return false }
        let tls = easy.tls
        // HTTP/2 frames name the stream that they belong to.
        guard ccurl_speaks_http2(tls) == 0 else { return false }
        return running.sockets.hasLeftovers(key, tls: tls)
    }

    /// Whether a host key may be trusted: only one that equals the known key, and none is added.
    ///
    /// `known` is the known key as in the file, in Base64.
    private func trusts(_ match: curl_khmatch, _ known: curl_khkey?) -> Bool {
        guard match != CURLKHMATCH_OK else {
            guard let key = known?.key, known?.len == 0,
                request.ssh.revokedKeys.contains(String(cString: key))
            else { return true }
            hostKeyDoubt = .revoked
            return false
        }
        hostKeyDoubt = match == CURLKHMATCH_MISMATCH ? .changed : .unknown
        return false
    }
}
