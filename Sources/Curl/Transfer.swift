// SPDX-License-Identifier: Apache-2.0

import CCurl
import Glibc

/// One running transfer: the state behind libcurl's callbacks.
///
/// Belongs to the pool's thread. The easy handle holds an unowned pointer to it; the pool keeps
/// it until the easy handle has left the multi handle.
final class Transfer {
    let handle: TransferHandle
    let easy: EasyHandle
    private let sink: any TransferSink
    private let admits: (@Sendable (SocketAddress) -> Bool)?
    private(set) var isPaused = false
    private var received: Int64 = 0
    private var wasRefusedAddress = false

    /// Makes `easy`, which must be fresh or reset, ready to run the request.
    init(
        _ request: TransferRequest,
        on easy: EasyHandle,
        sink: any TransferSink,
        handle: TransferHandle
    ) throws(CurlFailure) {
        self.handle = handle
        self.easy = easy
        self.sink = sink
        admits = request.admits
        try easy.apply(request)
        let context = Unmanaged.passUnretained(self).toOpaque()
        try easy.set(CURLOPT_WRITEDATA, context)
        try easy.set(CURLOPT_HEADERDATA, context)
        try easy.set(CURLOPT_OPENSOCKETDATA, context)
        try easy.set(CURLOPT_WRITEFUNCTION, function: receiveBody)
        try easy.set(CURLOPT_HEADERFUNCTION, function: receiveHeader)
        try easy.set(openSocket: openSocket)
    }

    /// Reads on after a pause; the sink may be called from within, and may pause again.
    func resume() throws(CurlFailure) {
        guard isPaused else { return }
        isPaused = false
        try easy.unpause()
    }

    /// What became of the transfer.
    func outcome(_ result: CurlCode, message: String? = nil) -> TransferOutcome {
        let failure = easy.failureText
        var text = ""
        if result != .ok { text = message ?? (failure.isEmpty ? result.description : failure) }
        var outcome = TransferOutcome(result, text)
        outcome.status = easy.number(CURLINFO_RESPONSE_CODE) ?? 0
        outcome.httpVersion = easy.number(CURLINFO_HTTP_VERSION).flatMap { .init(rawValue: $0) }
        outcome.primaryAddress = easy.text(CURLINFO_PRIMARY_IP) ?? ""
        outcome.received = received
        outcome.osError = Int32(truncatingIfNeeded: easy.number(CURLINFO_OS_ERRNO) ?? 0)
        outcome.openedConnections = easy.number(CURLINFO_NUM_CONNECTS) ?? 0
        outcome.wasRefusedAddress = wasRefusedAddress
        outcome.connectTime = easy.microseconds(CURLINFO_CONNECT_TIME_T) ?? .zero
        outcome.firstByteTime = easy.microseconds(CURLINFO_STARTTRANSFER_TIME_T) ?? .zero
        outcome.totalTime = easy.microseconds(CURLINFO_TOTAL_TIME_T) ?? .zero
        return outcome
    }

    // MARK: From the callbacks

    fileprivate func receive(header bytes: UnsafeRawBufferPointer) -> Int {
        switch sink.receive(headerLine: bytes) {
        case .proceed: bytes.count
        case .abort: refusal(of: bytes)
        }
    }

    fileprivate func receive(body bytes: UnsafeRawBufferPointer) -> Int {
        switch sink.receive(body: bytes) {
        case .taken:
            received += Int64(bytes.count)
            return bytes.count
        case .pause:
            isPaused = true
            return Int(CURL_WRITEFUNC_PAUSE)
        case .abort:
            return refusal(of: bytes)
        }
    }

    /// Any count but the one that was offered means failure; CURLOPT_WRITEFUNCTION(3).
    private func refusal(of bytes: UnsafeRawBufferPointer) -> Int { bytes.isEmpty ? 1 : 0 }

    fileprivate func open(_ address: UnsafePointer<curl_sockaddr>) -> curl_socket_t {
        if let admits, !admits(SocketAddress(address)) {
            wasRefusedAddress = true
            return CURL_SOCKET_BAD
        }
        // libcurl's own socket would be handed on to every program that the process starts.
        let flags = Int32(bitPattern: SOCK_CLOEXEC.rawValue)
        return socket(
            address.pointee.family,
            address.pointee.socktype | flags,
            address.pointee.protocol
        )
    }
}

// The three callbacks. A context that is missing would be our own mistake; it ends the transfer.

private func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context else { return 0 }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    return transfer.receive(body: UnsafeRawBufferPointer(start: bytes, count: size * count))
}

private func receiveHeader(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context else { return 0 }
    let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    return transfer.receive(header: UnsafeRawBufferPointer(start: bytes, count: size * count))
}

private func openSocket(
    _ context: UnsafeMutableRawPointer?,
    _ purpose: curlsocktype,
    _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let context, let address else { return CURL_SOCKET_BAD }
    return Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue().open(address)
}
