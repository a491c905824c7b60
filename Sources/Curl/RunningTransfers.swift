// SPDX-License-Identifier: Apache-2.0

import CCurl
import Glibc

/// The transfers of a pool, and what is known of the connections that they use.
///
/// Belongs to the pool's thread, which makes it: no other thread ever has it.
final class RunningTransfers {
    /// How many idle easy handles are kept for later transfers; each takes about 6 kB.
    private static let maximumSpareHandles = 32
    /// How often FTP and SFTP transfers are checked, in milliseconds.
    ///
    /// Bytes that TLS or SSH has already read do not make a socket readable, but libcurl waits for
    /// one. Without the checks, half of the FTPS transfers would stand still until the connect
    /// timeout. The curl program checks once a second (src/tool_operate.c of 7.88).
    private static let fileServerInterval: Int32 = 50
    /// After this many failed turns, which take five seconds, all transfers are ended.
    private static let mostFailedTurns = 50
    /// How long libcurl keeps an idle connection (CURLOPT_MAXAGE_CONN).
    private static let longestIdleness: Duration = .seconds(118)

    let sockets = ConnectionSockets()
    let signIns = KnownSignIns()
    private let funnel: Funnel
    private let multi: MultiHandle
    private var transfers: [ObjectIdentifier: EasyTransfer] = [:]
    private var spares: [EasyHandle] = []
    private(set) var isShutDown = false
    /// How many turns in a row have failed.
    private var failedTurns = 0
    /// When an FTP or SFTP server last gave a reply that did not fit its command.
    private var lastConfusion: ContinuousClock.Instant?

    init(_ funnel: Funnel, _ multi: MultiHandle) {
        self.funnel = funnel
        self.multi = multi
    }

    /// Whether libcurl has put a transfer on a connection that already carries another transfer and
    /// cannot carry two.
    ///
    /// Once a host has spoken HTTP/2, libcurl takes every busy connection to it for one that can be
    /// shared, even one that speaks HTTP/1.1 (ConnectionExists in lib/url.c of 7.88). Two files
    /// then got each other's bytes, and both were reported complete. So before a request that asks
    /// for HTTP/2 is sent, its TLS session is compared with those of all others, and the request
    /// gets its own connection if it would be the second. A transfer that has ended no longer has a
    /// connection.
    func isIntruder(_ transfer: EasyTransfer) -> Bool {
        guard let tls = transfer.easy.tls, ccurl_speaks_http2(tls) == 0 else { return false }
        return transfers.values.contains { $0 !== transfer && $0.easy.tls == tls }
    }

    /// Takes one turn: lets transfers do what they can, reports those that ended, and waits.
    func turn() {
        guard !isShutDown else { return }
        do throws(CurlFailure) {
            try multi.perform()
            while let (easy, code) = multi.nextEnded() {
                guard let transfer = transfer(of: easy) else { continue }
                if transfer.mustBeginAnew(after: code) {
                    beginAnew(transfer, after: code)
                } else {
                    end(transfer, code)
                }
            }
            for transfer in transfers.values { transfer.concludeTurn() }
            try multi.wait(atMost: hasFileServers ? Self.fileServerInterval : .max)
            failedTurns = 0
        } catch {
            // The error is about no single transfer, and libcurl has served all of them before it
            // returns one (lib/multi.c of 7.88): the next turn continues where this one ended.
            failedTurns += 1
            guard failedTurns > 1 else { return }
            if failedTurns > Self.mostFailedTurns {
                failedTurns = 1
                for transfer in transfers.values {
                    end(transfer, error.code, message: error.description)
                }
            }
            // A lasting failure must not keep a processor busy.
            poll(nil, 0, 100)
        }
    }

    private func transfer(of easy: UnsafeMutableRawPointer) -> EasyTransfer? {
        transfers.values.first { $0.easy.pointer == easy }
    }

    private var hasFileServers: Bool { transfers.values.contains { $0.isFromFileServer } }

    func start(_ request: TransferRequest, sink: any TransferSink, handle: TransferHandle) {
        guard !isShutDown else { return handle.settle(Self.shutDownOutcome) }
        var request = request
        // libcurl keeps a control connection whose replies are one behind: all replies that follow
        // on it would be misread, too.
        if !request.url.isHTTP, let lastConfusion, .now - lastConfusion < Self.longestIdleness {
            request.reuse = .never
        }
        do throws(CurlFailure) {
            let easy = if let spare = spares.popLast() { spare } else { try EasyHandle(funnel) }
            let transfer = try EasyTransfer(
                request,
                on: easy,
                sink: sink,
                handle: handle,
                among: self
            )
            try multi.add(easy)
            transfers[ObjectIdentifier(handle)] = transfer
        } catch {
            handle.settle(TransferOutcome(error.code, error.description))
        }
    }

    /// Runs a transfer again of which the sink has heard nothing.
    private func beginAnew(_ transfer: EasyTransfer, after code: CurlCode) {
        do throws(CurlFailure) {
            try multi.remove(transfer.easy)
            try transfer.beginAnew(on: EasyHandle(funnel), after: code)
            try multi.add(transfer.easy)
        } catch {
            end(transfer, error.code, message: error.description)
        }
    }

    func cancel(_ handle: TransferHandle) {
        guard let transfer = transfers[ObjectIdentifier(handle)] else { return }
        end(transfer, .aborted, message: "The transfer was cancelled")
    }

    /// Ends the transfers whose connections use other local addresses than these.
    func end(cutOffFrom addresses: Set<SocketAddress>) {
        for transfer in transfers.values where transfer.isCutOff(from: addresses) {
            end(transfer, .aborted, message: "The network address of this computer has changed")
        }
    }

    func unpause(_ handle: TransferHandle) {
        guard let transfer = transfers[ObjectIdentifier(handle)] else { return }
        do throws(CurlFailure) {
            try transfer.resume()
        } catch {
            // Otherwise the transfer would hang: libcurl does not look at it again.
            end(transfer, error.code, message: error.description)
        }
    }

    /// Ends a transfer; every transfer ends here.
    ///
    /// It leaves libcurl before its outcome is told, so that no callback can come after that.
    private func end(_ transfer: EasyTransfer, _ result: CurlCode, message: String? = nil) {
        // After a failure nobody knows what the host or proxy says of the login that it got.
        if result == .ok {
            transfer.releaseHead()
            transfer.concludeBody()
        }
        let outcome = transfer.outcome(result, message: message)
        if outcome.isMisfit { lastConfusion = .now }
        transfers[ObjectIdentifier(transfer.handle)] = nil
        transfer.prepareForRemoval()
        do throws(CurlFailure) {
            try multi.remove(transfer.easy)
            // A handle without an answer may keep its buffer, and then refuse another size
            // (lib/setopt.c of 7.88).
            let isReusable = transfer.easy.isReusable && (result == .ok || outcome.status > 0)
            if isReusable, spares.count < Self.maximumSpareHandles {
                transfer.easy.reset()
                if transfer.easy.hasLeftItsBuffer { spares.append(transfer.easy) }
            }
        } catch {
            // The handle is freed with the transfer, which removes it from the multi handle.
        }
        transfer.handle.settle(outcome)
    }

    /// Cancels all transfers, after which the thread ends.
    func tearDown() {
        isShutDown = true
        for transfer in transfers.values {
            end(transfer, .aborted, message: Self.shutDownOutcome.message)
        }
        spares = []
        sockets.hangUp()
    }

    static let shutDownOutcome = TransferOutcome(.aborted, "The transfers were ended")
}
