// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Runs transfers on a thread of its own, any number at a time.
///
/// It owns one multi handle of libcurl and its connections, which later transfers reuse. The thread
/// is the actor's executor, so everything that touches libcurl is isolated to the actor. The thread
/// keeps the pool alive until ``shutDown()``.
public actor TransferPool {
    /// How many idle easy handles are kept for later transfers; each takes about 6 kB.
    private static let maximumSpareHandles = 32

    /// How often FTP and SFTP transfers are checked, in milliseconds.
    ///
    /// Bytes that TLS or SSH has already read do not make a socket readable, but libcurl waits for
    /// one. Without the checks, half of the FTPS transfers would stand still until the connect
    /// timeout. The curl program checks once a second (src/tool_operate.c of 7.88).
    private static let fileServerInterval: Int32 = 50

    private let funnel: Funnel
    private let multi: MultiHandle
    nonisolated let thread: PoolThread
    private var transfers: [ObjectIdentifier: EasyTransfer] = [:]
    private let running = RunningTransfers()
    private var spares: [EasyHandle] = []
    private var isShutDown = false
    /// How many turns in a row have failed.
    private var failedTurns = 0
    /// After this many failed turns, which take five seconds, all transfers are ended.
    private static let mostFailedTurns = 50
    /// When an FTP or SFTP server last gave a reply that did not fit its command.
    private var lastConfusion: ContinuousClock.Instant?
    /// How long libcurl keeps an idle connection (CURLOPT_MAXAGE_CONN).
    private static let longestIdleness: Duration = .seconds(118)

    /// How many turns the thread has taken; for tests of idleness.
    package private(set) var turns = 0

    /// The executor: the pool's thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        thread.asUnownedSerialExecutor()
    }

    /// Initialises libcurl and starts the thread.
    ///
    /// - Throws: ``CurlFailure`` where there is no memory, no thread or no descriptor.
    public init() throws(CurlFailure) { try self.init(faults: nil) }

    /// Makes a pool in which a test can make calls into libcurl fail.
    package init(faults: (@Sendable () -> Bool)?) throws(CurlFailure) {
        funnel = Funnel(faults: faults)
        try CurlLibrary.initialize(funnel)
        multi = try MultiHandle(funnel)
        thread = PoolThread(multi)
        do throws(CurlFailure) {
            try thread.start(self)
        } catch {
            multi.close()
            throw error
        }
    }

    /// Begins a transfer, and returns without waiting.
    ///
    /// - Parameters:
    ///   - request: What to get; one that cannot be sent has the outcome ``CurlCode/badRequest``.
    ///   - sink: Takes the answer; kept until the outcome is known.
    /// - Returns: The handle of the transfer, whose outcome reports every failure.
    public nonisolated func begin(
        _ request: TransferRequest,
        sink: any TransferSink
    ) -> TransferHandle {
        let handle = TransferHandle(driver: self)
        let isPosted = thread.post { pool in pool.start(request, sink: sink, handle: handle) }
        if !isPosted { handle.settle(Self.shutDownOutcome) }
        return handle
    }

    /// Cancels all transfers, ends the thread and frees everything; may be called again.
    public nonisolated func shutDown() async {
        _ = thread.post { pool in pool.tearDown() }
        await thread.join()
    }

    /// Ends the transfers whose connections use addresses that this computer no longer has: no
    /// answer reaches them, and otherwise only the silence timeout would notice.
    ///
    /// - Parameter addresses: the present addresses of this computer.
    public nonisolated func endTransfers(cutOffFrom addresses: Set<SocketAddress>) {
        _ = thread.post { pool in
            for transfer in pool.transfers.values where transfer.isCutOff(from: addresses) {
                pool.end(
                    transfer,
                    .aborted,
                    message: "The network address of this computer has changed"
                )
            }
        }
    }

    package nonisolated func resume(_ handle: TransferHandle) {
        _ = thread.post { pool in pool.unpause(handle) }
    }

    package nonisolated func cancel(_ handle: TransferHandle) {
        _ = thread.post { pool in
            guard let transfer = pool.transfers[ObjectIdentifier(handle)] else { return }
            pool.end(transfer, .aborted, message: "The transfer was cancelled")
        }
    }
}

// MARK: On the thread

extension TransferPool {
    /// Takes one turn: lets transfers do what they can, reports those that ended, and waits.
    func turn() {
        turns += 1
        guard !isShutDown else { return }
        do throws(CurlFailure) {
            try multi.perform()
            while let (easy, code) = multi.nextEnded() {
                guard let transfer = running[easy] else { continue }
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

    private var hasFileServers: Bool { transfers.values.contains { $0.isFromFileServer } }

    private func start(_ request: TransferRequest, sink: any TransferSink, handle: TransferHandle) {
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
                among: running
            )
            try multi.add(easy)
            transfers[ObjectIdentifier(handle)] = transfer
            running[easy.pointer] = transfer
        } catch {
            handle.settle(TransferOutcome(error.code, error.description))
        }
    }

    /// Runs a transfer again of which the sink has heard nothing.
    private func beginAnew(_ transfer: EasyTransfer, after code: CurlCode) {
        do throws(CurlFailure) {
            try multi.remove(transfer.easy)
            running[transfer.easy.pointer] = nil
            try transfer.beginAnew(on: EasyHandle(funnel), after: code)
            try multi.add(transfer.easy)
            running[transfer.easy.pointer] = transfer
        } catch {
            end(transfer, error.code, message: error.description)
        }
    }

    private func unpause(_ handle: TransferHandle) {
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
        running[transfer.easy.pointer] = nil
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

    private func tearDown() {
        isShutDown = true
        for transfer in transfers.values {
            end(transfer, .aborted, message: Self.shutDownOutcome.message)
        }
        spares = []
        running.sockets.hangUp()
        thread.stop()
    }

    private static let shutDownOutcome = TransferOutcome(.aborted, "The transfers were ended")
}
