// SPDX-License-Identifier: Apache-2.0

internal import CDBus
internal import Glibc

extension Connection {
    /// Takes one message from libdbus, on the executor.
    ///
    /// - Returns: What libdbus is to do with it: where memory fails for a signal, which nobody
    ///   repeats, it comes again a little later.
    func receive(_ message: OpaquePointer) -> DBusHandlerResult {
        switch dbus_message_get_type(message) {
        case DBUS_MESSAGE_TYPE_METHOD_CALL:
            receive(call: message)
            return DBUS_HANDLER_RESULT_HANDLED
        case DBUS_MESSAGE_TYPE_SIGNAL:
            do throws(BusError) {
                try receive(signal: message)
            } catch {
                return DBUS_HANDLER_RESULT_NEED_MEMORY
            }
        default: break
        }
        return DBUS_HANDLER_RESULT_NOT_YET_HANDLED
    }

    // MARK: Calls

    /// Finds the method and starts its handler, or answers with the reason why not.
    private func receive(call message: OpaquePointer) {
        let wantsReply = dbus_message_get_no_reply(message) == 0
        let reply = ReplyAddress(
            serial: dbus_message_get_serial(message),
            sender: dbus_message_get_sender(message).map { BusName(checked: String(cString: $0)) }
        )
        do throws(BusError) {
            if let refusal { throw refusal }
            guard !handlers.isFull else {
                throw .limitsExceeded("Too many calls are being served. Call again later.")
            }
            let path = ObjectPath(checked: try Self.field(dbus_message_get_path(message)))
            let member = try Self.field(dbus_message_get_member(message))
            let interface = dbus_message_get_interface(message).map { String(cString: $0) }
            guard let object = objects.object(at: path) else {
                throw .unknownObject("There is no object at \(path).")
            }
            let (interfaceName, method): (InterfaceName, Method)
            do throws(BusError) {
                (interfaceName, method) = try object.method(interface, member, at: path)
            } catch {
                guard let subtree = objects.subtree(around: path) else { throw error }
                start(wantsReply ? reply : nil) {
                    .failure(await subtree.refusal(error, at: path))
                }
                return
            }
            let call = Call(
                connection: self,
                sender: reply.sender,
                path: path,
                interface: interfaceName,
                member: MemberName(checked: member),
                wantsReply: wantsReply
            )
            let arguments = try arguments(of: message, for: method, call)
            switch method.body {
            case .task(let body):
                let isOfAll = interfaceName == Interface.propertiesName
                let subtree = isOfAll ? objects.subtree(around: path) : nil
                start(wantsReply ? reply : nil) {
                    let outcome = await Self.run(body, call, arguments)
                    return await subtree?.judged(outcome, at: path) ?? outcome
                }
            case .answering(let body):
                let id = makeID()
                handlers.begin(id, reply: wantsReply ? reply : nil)
                body(call, arguments) { [executor] outcome in
                    executor.run { self.assumeIsolated { $0.finish(id, with: outcome) } }
                }
            }
        } catch {
            guard wantsReply else { return }
            answer(.failure(error), to: reply)
        }
    }

    private static func field(_ characters: UnsafePointer<CChar>?) throws(BusError) -> String {
        // libdbus lets no call without these fields through.
        guard let characters else { throw .inconsistentMessage("A header field is missing.") }
        return String(cString: characters)
    }

    /// The arguments; their types are compared first, so that nothing else is ever read.
    private func arguments(
        of message: OpaquePointer,
        for method: Method,
        _ call: Call
    ) throws(BusError) -> WireReader {
        let expected = method.inputSignature
        guard let found = dbus_message_get_signature(message) else {
            throw .noMemory("dbus_message_get_signature")
        }
        guard strcmp(found, expected.rawValue) == 0 else {
            let names = method.inputs.map { "\($0.type) \($0.name)" }.joined(separator: ", ")
            throw .invalidArguments(
                "\(call.member) takes (\(names)) with the signature \"\(expected)\","
                    + " not \"\(String(cString: found))\"."
            )
        }
        return try WireReader(
            bodyOf: message,
            takingDescriptors: expected.rawValue.utf8.contains(TypeCode.unixDescriptor.rawValue),
            border: border
        )
    }

    // MARK: Handlers

    /// Answers every call that is under way, and every later one, with this error.
    ///
    /// For a service that ends: its handlers are cancelled, and nobody waits for an answer in vain.
    public func refuseCalls(with error: BusError) {
        refusal = error
        for reply in handlers.cancelAll() { answer(.failure(error), to: reply) }
    }

    /// Starts a handler at once, up to its first suspension; its task answers once.
    private func start(
        _ reply: ReplyAddress?,
        _ handler: @escaping @Sendable () async -> Result<WireWriter, BusError>
    ) {
        let id = makeID()
        handlers.begin(id, reply: reply)
        let task = Task.immediate {
            let outcome = await handler()
            if let reply, case .success(let results) = outcome, results.isLong {
                await finish(id, with: results, to: reply)
            } else {
                finish(id, with: outcome)
            }
        }
        handlers.attach(task, to: id)
    }

    /// Answers a call, unless it has been.
    private func finish(_ id: Int, with outcome: Result<WireWriter, BusError>) {
        if let reply = handlers.finish(id) { answer(outcome, to: reply) }
    }

    /// Answers with a message that is made on another thread.
    private func finish(
        _ id: Int,
        with results: consuming WireWriter,
        to reply: ReplyAddress
    ) async {
        do throws(BusError) {
            let message = try await Self.message(results, to: reply, border: border)
            // The service may have ended meanwhile, and everybody been told so.
            guard handlers.finish(id) != nil, let link else { return }
            try link.send(message)
        } catch {
            finish(id, with: .failure(error))
        }
    }

    @concurrent
    private static func message(
        _ results: consuming WireWriter,
        to reply: ReplyAddress,
        border: Border
    ) async throws(BusError) -> sending Message {
        try Message(replyTo: reply, results, border: border)
    }

    private nonisolated(nonsending) static func run(
        _ body: @Sendable (Call, WireReader) async throws -> WireWriter,
        _ call: Call,
        _ arguments: WireReader
    ) async -> Result<WireWriter, BusError> {
        do {
            return .success(try await body(call, arguments))
        } catch let error as BusError {
            return .failure(error)
        } catch is CancellationError {
            return .failure(.failed("The call was cancelled."))
        } catch {
            return .failure(.failed(String(describing: error)))
        }
    }

    /// Sends the one reply to a call.
    ///
    /// A result that cannot be encoded becomes an error reply. If memory fails even for that, the
    /// bus answers the caller when its time is up or we are gone.
    private func answer(_ outcome: Result<WireWriter, BusError>, to reply: ReplyAddress) {
        guard let link else { return }
        do throws(BusError) {
            switch outcome {
            case .success(let results):
                try link.send(try Message(replyTo: reply, results, border: border))
            case .failure(let error):
                try send(error, to: reply, over: link)
            }
        } catch {
            try? send(error, to: reply, over: link)
        }
    }

    private func send(
        _ error: BusError,
        to reply: ReplyAddress,
        over link: Link
    ) throws(BusError) {
        // A string with U+0000 cannot be sent, and a text from elsewhere may hold one.
        let text = WireWriter(error.message.replacing("\0", with: "\u{FFFD}"))
        let message = try Message(replyTo: reply, error: error.name, text, border: border)
        try link.send(message)
    }

    // MARK: Signals

    private func receive(signal message: OpaquePointer) throws(BusError) {
        if dbus_message_is_signal(message, DBUS_INTERFACE_LOCAL, "Disconnected") != 0 {
            // Not from within libdbus's own dispatch.
            enqueue { $0.close() }
            return
        }
        try deliver(message)
    }
}

extension WireWriter {
    /// Whether to make a message of it would keep others waiting: libdbus checks 64 KiB in about
    /// 50 µs.
    fileprivate var isLong: Bool { bytes.count > 64 << 10 }
}
