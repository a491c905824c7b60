// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// A call without a reply yet: libdbus's pending call, and the task that waits for the reply.
///
/// It belongs to the connection's isolation. It ends exactly once: by the reply, or by
/// ``abandon(_:)``.
final class PendingReply {
    private let link: Link
    private var pending: OpaquePointer?
    private var outcome: Result<WireReader, BusError>?
    private var continuation: CheckedContinuation<Result<WireReader, BusError>, Never>?
    /// The timer that abandons the call; nil if the call waits without limit.
    private var timer: Int?

    /// Sends a call, with `dbus_connection_send_with_reply`.
    ///
    /// An outcome that comes before anybody waits for it is kept.
    ///
    /// - Parameters:
    ///   - message: The call.
    ///   - link: The link to send over.
    ///   - timeout: The time after which `onTimeout` runs; 24 days or more mean no timeout.
    ///   - onTimeout: Runs on the thread of the link.
    /// - Throws: `Disconnected`; `NoMemory`.
    init(
        sending message: Message,
        over link: Link,
        timeout: Duration,
        onTimeout: @escaping EventLoop.Handler
    ) throws(BusError) {
        self.link = link
        var pending: OpaquePointer?
        let pointer = message.pointer
        // The connection's own timer ends the call, so that libdbus needs none.
        try link.libdbus.check("dbus_connection_send_with_reply") {
            dbus_connection_send_with_reply(link.pointer, pointer, &pending, DBUS_TIMEOUT_INFINITE)
        }
        // On a closed connection, libdbus reports success but makes no pending call.
        guard let pending else { throw .connectionClosed }
        self.pending = pending
        // If this throws, `deinit` releases the pending call.
        try link.libdbus.check("dbus_pending_call_set_notify") {
            dbus_pending_call_set_notify(
                pending,
                { _, context in
                    guard let context else { return }
                    Unmanaged<PendingReply>.fromOpaque(context).takeUnretainedValue().arrived()
                },
                Unmanaged.passUnretained(self).toOpaque(),
                nil
            )
        }
        if dbus_pending_call_get_completed(pending) != 0 {
            arrived()
        } else if timeout < .seconds(24 * 86_400) {
            let (seconds, attoseconds) = max(.zero, timeout).components
            let wait = EventLoop.Instant(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
            timer = link.loop.addTimer(after: wait, onTimeout)
        }
    }

    deinit { release() }

    /// Resumes a task when the call ends, or now if it has ended; may be called once.
    func resumeAtEnd(_ continuation: CheckedContinuation<Result<WireReader, BusError>, Never>) {
        link.owner.assertIsolated()
        if let outcome {
            continuation.resume(returning: outcome)
        } else {
            self.continuation = continuation
        }
    }

    /// Abandons the call; libdbus drops a reply that arrives later.
    func abandon(_ error: BusError) { end(.failure(error)) }

    private func arrived() {
        guard let pending, let reply = dbus_pending_call_steal_reply(pending) else { return }
        defer { dbus_message_unref(reply) }
        end(content(of: reply))
    }

    private func end(_ result: Result<WireReader, BusError>) {
        guard outcome == nil else { return }
        outcome = result
        release()
        continuation?.resume(returning: result)
        continuation = nil
    }

    private func release() {
        if let timer { link.loop.removeTimer(timer) }
        timer = nil
        guard let pending else { return }
        self.pending = nil
        dbus_pending_call_cancel(pending)
        dbus_pending_call_unref(pending)
    }

    private func content(of reply: OpaquePointer) -> Result<WireReader, BusError> {
        let reader: WireReader
        do throws(BusError) {
            reader = try WireReader(bodyOf: reply, takingDescriptors: true, libdbus: link.libdbus)
        } catch {
            return .failure(error)
        }
        guard dbus_message_get_type(reply) == DBUS_MESSAGE_TYPE_ERROR else {
            return .success(reader)
        }
        // When the connection is lost, libdbus itself ends its calls with a timeout error without a
        // sender.
        if dbus_message_get_sender(reply) == nil, !link.isConnected {
            return .failure(.connectionClosed)
        }
        guard let name = dbus_message_get_error_name(reply) else {
            return .failure(.inconsistentMessage("An error reply came without a name."))
        }
        let text = try? reader.results(of: "Error", as: String.self)
        return .failure(BusError(ErrorName(checked: String(cString: name)), text ?? ""))
    }
}
