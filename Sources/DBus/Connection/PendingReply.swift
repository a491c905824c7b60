// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// A call without a reply yet: libdbus's pending call, and the task that waits for the reply.
///
/// It belongs to the connection's isolation. It ends exactly once: by the reply, by libdbus's
/// timeout, or by ``abandon(_:)``.
final class PendingReply {
    private let link: Link
    private var pending: OpaquePointer?
    private var outcome: Result<WireReader, BusError>?
    private var continuation: CheckedContinuation<Result<WireReader, BusError>, Never>?

    /// Sends a call, with `dbus_connection_send_with_reply`.
    ///
    /// The call is abandoned after the timeout; 24 days or more mean no timeout. An outcome that comes
    /// before anybody waits for it is kept.
    init(
        sending message: borrowing Message,
        over link: Link,
        timeout: Duration
    ) throws(BusError) {
        self.link = link
        var pending: OpaquePointer?
        let pointer = message.pointer
        let milliseconds = Self.milliseconds(timeout)
        try link.libdbus.check("dbus_connection_send_with_reply") {
            dbus_connection_send_with_reply(link.pointer, pointer, &pending, milliseconds)
        }
        // On a closed connection, libdbus reports success but makes no pending call.
        guard let pending else { throw .connectionClosed }
        self.pending = pending
        do throws(BusError) {
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
        } catch {
            release()
            throw error
        }
        if dbus_pending_call_get_completed(pending) != 0 { arrived() }
    }

    private static func milliseconds(_ duration: Duration) -> CInt {
        let (seconds, attoseconds) = duration.components
        guard seconds < Int64(CInt.max) / 1000 else { return DBUS_TIMEOUT_INFINITE }
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        return CInt(seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }

    deinit {
        release()
    }

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
    func abandon(_ error: BusError) {
        end(.failure(error))
    }

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
