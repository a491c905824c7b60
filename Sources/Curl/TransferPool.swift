// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Runs transfers on one thread of its own, as many at once as are begun.
///
/// Owns one multi handle of libcurl with its connections, which later transfers use again. The
/// thread is the actor's executor, so everything that touches libcurl is isolated to the actor.
/// The thread keeps the pool alive until ``shutDown()``.
public actor TransferPool {
    /// How many connections wait for a next transfer; a descriptor each.
    private static let maximumIdleConnections = 64
    /// How many easy handles wait for a next transfer; about 6 kB each.
    private static let maximumSpareHandles = 32

    /// How often transfers by FTP and SFTP are looked at, in milliseconds.
    ///
    /// What TLS or SSH has read already makes no socket readable, and libcurl waits for one all
    /// the same: over FTPS half of the transfers would stand still until the connect timeout. Its
    /// own program looks once a second (src/tool_operate.c of 7.88).
    private static let fileServerInterval: Int32 = 50

    private let funnel: Funnel
    private let multi: MultiHandle
    private nonisolated let thread: PoolThread
    private var transfers: [ObjectIdentifier: Transfer] = [:]
    private let running = RunningTransfers()
    private let sockets = ConnectionSockets()
    private let knownSignIns = KnownSignIns()
    private var spares: [EasyHandle] = []
    private var isShutDown = false
    /// How many rounds in a row have failed.
    private var failedTurns = 0
    /// After so many, five seconds, nobody can hope that the next round succeeds.
    private static let mostFailedTurns = 50
    /// When a server of files last gave a reply that did not fit its command.
    private var lastConfusion: ContinuousClock.Instant?
    /// libcurl lets no connection be idle for longer (CURLOPT_MAXAGE_CONN).
    private static let longestIdleness: Duration = .seconds(118)

    /// How often the thread has gone around; for tests of idleness.
    package private(set) var turns = 0

    /// The pool's thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        thread.asUnownedSerialExecutor()
    }

    /// Makes libcurl ready and starts the thread.
    ///
    /// - Throws: ``CurlFailure`` when there is no memory, no thread or no descriptor.
    public init() throws(CurlFailure) { try self.init(faults: nil) }

    /// Makes a pool whose calls into libcurl a test can make fail.
    package init(faults: CurlFaultPlan?) throws(CurlFailure) {
        funnel = Funnel(plan: faults)
        try CurlLibrary.initialize(funnel)
        multi = try MultiHandle(
            funnel,
            maximumIdleConnections: Self.maximumIdleConnections
        )
        thread = PoolThread(multi)
        do throws(CurlFailure) {
            try thread.start(self)
        } catch {
            multi.close()
            throw error
        }
    }

    /// Begins a transfer at once and returns without waiting for anything.
    ///
    /// - Parameters:
    ///   - request: What to get; one that cannot be sent has the outcome
    ///     ``CurlCode/badRequest``.
    ///   - sink: Where the answer goes; kept until the outcome is there.
    /// - Returns: The handle of the transfer, whose outcome tells every failure.
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

    /// Ends the transfers whose connections are from addresses that this computer no longer has:
    /// what is sent to them reaches nobody, and without this only silence would tell.
    ///
    /// - Parameter addresses: those that it has.
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
    /// One round: transfers do what they can, those that ended are reported, then wait.
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
            // The error says nothing of a single transfer, and libcurl has served them all before it
            // returns one (lib/multi.c of 7.88): the next round goes on where this one ended.
            failedTurns += 1
            guard failedTurns > 1 else { return }
            if failedTurns > Self.mostFailedTurns {
                failedTurns = 1
                for transfer in transfers.values {
                    end(transfer, error.code, message: error.description)
                }
            }
            // A failure that lasts must not keep a processor busy.
            poll(nil, 0, 100)
        }
    }

    private var hasFileServers: Bool { transfers.values.contains { $0.isFromFileServer } }

    private func start(
        _ request: TransferRequest,
        sink: any TransferSink,
        handle: TransferHandle
    ) {
        guard !isShutDown else { return handle.settle(Self.shutDownOutcome) }
        var request = request
        // libcurl keeps a control connection whose replies are one behind: all that follow on it
        // would be misread as well.
        if !request.url.isHTTP, let lastConfusion, .now - lastConfusion < Self.longestIdleness {
            request.reuse = .never
        }
        do throws(CurlFailure) {
            let easy = try spareHandle()
            let transfer = try Transfer(
                request,
                on: easy,
                sink: sink,
                handle: handle,
                among: running,
                on: sockets,
                knownSignIns: knownSignIns
            )
            try multi.add(easy)
            transfers[ObjectIdentifier(handle)] = transfer
            running[easy.pointer] = transfer
        } catch {
            handle.settle(TransferOutcome(error.code, error.description))
        }
    }

    private func spareHandle() throws(CurlFailure) -> EasyHandle {
        guard let spare = spares.popLast() else { return try EasyHandle(funnel) }
        return spare
    }

    /// Runs a transfer once more of which the sink has heard nothing.
    private func beginAnew(_ transfer: Transfer, after code: CurlCode) {
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
            // Without this the transfer would hang: libcurl does not look at it again.
            end(transfer, error.code, message: error.description)
        }
    }

    /// The only way out for a transfer: out of libcurl first, so that no callback can come after
    /// the outcome.
    private func end(_ transfer: Transfer, _ result: CurlCode, message: String? = nil) {
        transfer.releaseHead()
        if result == .ok { transfer.concludeBody() }
        let outcome = transfer.outcome(result, message: message)
        if outcome.isMisfit { lastConfusion = .now }
        transfers[ObjectIdentifier(transfer.handle)] = nil
        running[transfer.easy.pointer] = nil
        transfer.prepareForRemoval()
        do throws(CurlFailure) {
            try multi.remove(transfer.easy)
            // One that nobody has answered may keep its buffer, and refuses another size for it
            // (lib/setopt.c of 7.88).
            let isReusable = transfer.easy.isReusable && (result == .ok || outcome.status > 0)
            if isReusable, spares.count < Self.maximumSpareHandles {
                transfer.easy.reset()
                if transfer.easy.hasLeftItsBuffer { spares.append(transfer.easy) }
            }
        } catch {
            // The handle is freed with the transfer, which takes it out of the multi handle.
        }
        transfer.handle.settle(outcome)
    }

    private func tearDown() {
        isShutDown = true
        for transfer in transfers.values {
            end(transfer, .aborted, message: Self.shutDownOutcome.message)
        }
        spares = []
        sockets.hangUp()
        thread.stop()
    }

    private static let shutDownOutcome = TransferOutcome(.aborted, "The transfers were ended")
}
