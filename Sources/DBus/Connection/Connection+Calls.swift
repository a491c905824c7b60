// SPDX-License-Identifier: Apache-2.0

internal import CDBus

extension Connection {
    /// Calls a method and waits for its reply; programs call through ``Proxy``.
    ///
    /// Cancelling the task abandons the call; the callee is not told. The caller decodes the
    /// results, outside the connection's thread.
    ///
    /// The proxy says how long to wait and whether the bus may start the service, unless the call
    /// says otherwise. A timeout of 24 days or more means no limit.
    ///
    /// - Returns: The arguments of the reply.
    /// - Throws: The error reply; `Disconnected`, `NoReply` or `NoMemory` from this process;
    ///   `InvalidArgs` or `LimitsExceeded` for arguments that cannot be sent.
    func call(
        _ proxy: Proxy,
        _ member: MemberName,
        _ arguments: WireWriter,
        timeout: Duration? = nil,
        startsService: Bool? = nil
    ) async throws(BusError) -> WireReader {
        let message = try Message(
            call: proxy.destination,
            proxy.path,
            proxy.interface,
            member,
            arguments,
            startsService: startsService ?? proxy.startsService,
            libdbus: libdbus
        )
        return try await answer(to: send(message, timeout: timeout ?? proxy.timeout)).get()
    }

    /// Sends a message that may get an answer, and returns an id for ``answer(to:)``, which has to be
    /// called.
    func send(_ message: Message, timeout: Duration) throws(BusError) -> Int {
        let id = makeID()
        pendingReplies[id] = try PendingReply(
            sending: message,
            over: try openLink(),
            timeout: timeout
        ) { [weak self] in
            self?.assumeIsolated {
                $0.pendingReplies[id]?.abandon(.noReply("No answer came in time."))
            }
        }
        return id
    }

    /// Waits for the answer to a message that was just sent.
    func answer(to id: Int) async -> Result<WireReader, BusError> {
        guard let pending = pendingReplies[id] else { return .failure(.connectionClosed) }
        defer { pendingReplies[id] = nil }
        return await withTaskCancellationHandler {
            // Through a method of self: a closure that does not capture the actor would leave its
            // executor.
            await self.end(of: pending)
        } onCancel: {
            enqueue { $0.pendingReplies[id]?.abandon(.noReply("The call was given up.")) }
        }
    }

    private func end(of pending: PendingReply) async -> Result<WireReader, BusError> {
        await withCheckedContinuation { pending.resumeAtEnd($0) }
    }
}
