// SPDX-License-Identifier: Apache-2.0

internal import CDBus
internal import Glibc

extension Connection {
    /// Takes one message from libdbus, on the executor.
    ///
    /// - Returns: Whether it needs no further handling by libdbus.
    func receive(_ message: OpaquePointer) -> Bool {
        switch dbus_message_get_type(message) {
        case DBUS_MESSAGE_TYPE_METHOD_CALL:
            receive(call: message)
            return true
        case DBUS_MESSAGE_TYPE_SIGNAL:
            receive(signal: message)
            return false
        default:
            return false
        }
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
            let arguments = try Self.arguments(of: message, for: method, call)
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

    /// Decodes the arguments; their types are compared first, so that nothing else is ever decoded.
    private static func arguments(
        of message: OpaquePointer,
        for method: Method,
        _ call: Call
    ) throws(BusError) -> [Value] {
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
        do throws(DecodingFailure) {
            return try Decoder.arguments(of: message)
        } catch {
            throw .invalidArguments("\(call.member): \(error)")
        }
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
        _ handler: @escaping @Sendable () async -> Result<[Value], BusError>
    ) {
        let id = makeID()
        handlers.begin(id, reply: reply)
        let task = Task.immediate {
            let outcome = await handler()
            if let reply, case .success(let values) = outcome, Self.isLong(values) {
                await finish(id, with: values, to: reply)
            } else {
                finish(id, with: outcome)
            }
        }
        handlers.attach(task, to: id)
    }

    /// Answers a call, unless it has been.
    private func finish(_ id: Int, with outcome: Result<[Value], BusError>) {
        if let reply = handlers.finish(id) { answer(outcome, to: reply) }
    }

    /// Whether to encode the values would keep others waiting: lists of many containers.
    private static func isLong(_ values: [Value]) -> Bool {
        values.contains { value in
            switch value {
            case .array(_, let elements): elements.count > longestInARow
            case .dictionary(_, _, let entries): entries.count > longestInARow
            default: false
            }
        }
    }

    /// A task has about thirty entries and takes 20 µs: so many are a millisecond.
    private static let longestInARow = 64

    /// Answers with a message that is made on another thread.
    private func finish(
        _ id: Int,
        with values: consuming [Value],
        to reply: ReplyAddress
    ) async {
        do throws(BusError) {
            let message = try await Self.encoded(values, to: reply, border: border)
            // The service may have ended meanwhile, and everybody been told so.
            guard handlers.finish(id) != nil, let link else { return }
            try link.send(message)
        } catch {
            finish(id, with: .failure(error))
        }
    }

    @concurrent
    private static func encoded(
        _ values: consuming [Value],
        to reply: ReplyAddress,
        border: Border
    ) async throws(BusError) -> sending Message {
        try Message.reply(to: reply, values, border: border)
    }

    private nonisolated(nonsending) static func run(
        _ body: @Sendable (Call, [Value]) async throws -> [Value],
        _ call: Call,
        _ arguments: [Value]
    ) async -> Result<[Value], BusError> {
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
    private func answer(_ outcome: Result<[Value], BusError>, to reply: ReplyAddress) {
        guard let link else { return }
        do throws(BusError) {
            switch outcome {
            case .success(let values):
                try link.send(try Message.reply(to: reply, values, border: border))
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
        let message = try Message.reply(to: reply, error: error.name, border: border)
        // A string with U+0000 cannot be sent, and a text from elsewhere may hold one.
        let text = error.message.replacing("\0", with: "\u{FFFD}")
        try message.append([.string(text)])
        try link.send(message)
    }

    // MARK: Signals

    private func receive(signal message: OpaquePointer) {
        if dbus_message_is_signal(message, DBUS_INTERFACE_LOCAL, "Disconnected") != 0 {
            // Not from within libdbus's own dispatch.
            enqueue { $0.close() }
            return
        }
        deliver(message)
    }
}
