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
        let serial = try openLink().send(message)
        return try await answer(to: serial, within: timeout ?? proxy.timeout).get()
    }

    /// Waits for the answer to a message that was sent just now, without a suspension in between.
    func answer(
        to serial: UInt32,
        within timeout: Duration
    ) async -> Result<WireReader, BusError> {
        var timer: Int?
        if timeout < .seconds(24 * 86_400) {
            let (seconds, attoseconds) = max(.zero, timeout).components
            let wait = EventLoop.Instant(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
            timer = executor.loop.addTimer(after: wait) {
                self.assumeIsolated {
                    $0.end(serial, with: .failure(.noReply("No answer came in time.")))
                }
            }
        }
        defer { if let timer { executor.loop.removeTimer(timer) } }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { pendingReplies[serial] = $0 }
        } onCancel: {
            enqueue { $0.end(serial, with: .failure(.noReply("The call was given up."))) }
        }
    }

    /// Ends the wait for an answer; does nothing if it has ended.
    private func end(_ serial: UInt32, with outcome: Result<WireReader, BusError>) {
        pendingReplies.removeValue(forKey: serial)?.resume(returning: outcome)
    }

    /// Ends the wait for the answer that a received message is.
    ///
    /// - Returns: Whether a call waited for it; the answer to an abandoned call is dropped.
    func receive(answer: OpaquePointer) -> Bool {
        let serial = dbus_message_get_reply_serial(answer)
        guard pendingReplies[serial] != nil else { return false }
        end(serial, with: Result { () throws(BusError) in try content(of: answer) })
        return true
    }

    private func content(of answer: OpaquePointer) throws(BusError) -> WireReader {
        let reader = try WireReader(bodyOf: answer, takingDescriptors: true, libdbus: libdbus)
        guard dbus_message_get_type(answer) == DBUS_MESSAGE_TYPE_ERROR else { return reader }
        guard let name = dbus_message_get_error_name(answer) else {
            throw .inconsistentMessage("An error reply came without a name.")
        }
        let text = try? reader.results(of: "Error", as: String.self)
        throw BusError(ErrorName(checked: String(cString: name)), text ?? "")
    }
}
