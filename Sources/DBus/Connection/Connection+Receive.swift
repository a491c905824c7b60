// SPDX-License-Identifier: Apache-2.0

internal import CDBus
internal import Glibc

extension Connection {
    /// Handles one message from libdbus; called on the executor.
    ///
    /// - Returns: What libdbus does next. If memory runs out for a signal, libdbus delivers the
    ///   signal again a little later, because no sender repeats a signal.
    func receive(_ message: OpaquePointer) -> DBusHandlerResult {
        switch dbus_message_get_type(message) {
        case DBUS_MESSAGE_TYPE_METHOD_CALL:
            receive(call: message)
            return DBUS_HANDLER_RESULT_HANDLED
        case DBUS_MESSAGE_TYPE_SIGNAL:
            guard dbus_message_is_signal(message, DBUS_INTERFACE_LOCAL, "Disconnected") == 0 else {
                // libdbus must not be closed from within its own dispatch.
                enqueue { $0.close() }
                break
            }
            do throws(BusError) {
                try deliver(message)
            } catch {
                return DBUS_HANDLER_RESULT_NEED_MEMORY
            }
        default: break
        }
        return DBUS_HANDLER_RESULT_NOT_YET_HANDLED
    }

    // MARK: Calls

    /// Finds the method and starts its handler, or answers the call with an error.
    private func receive(call message: OpaquePointer) {
        let reply = ReplyAddress(
            serial: dbus_message_get_serial(message),
            sender: dbus_message_get_sender(message).map { BusName(checked: String(cString: $0)) }
        )
        let wantsReply = dbus_message_get_no_reply(message) == 0
        do throws(BusError) {
            if let refusal { throw refusal }
            let path = ObjectPath(checked: try headerField(dbus_message_get_path(message)))
            let member = try headerField(dbus_message_get_member(message))
            let interface = dbus_message_get_interface(message).map { String(cString: $0) }
            guard let object = objects.object(at: path) else {
                throw .unknownObject("There is no object at \(path).")
            }
            let (owner, method): (Interface, Method)
            do throws(BusError) {
                (owner, method) = try object.method(interface, member, at: path)
            } catch {
                guard wantsReply, let subtree = objects.subtree(around: path) else { throw error }
                try pendingCalls.check(reply.sender)
                let id = pendingCalls.begin(reply, wantsReply: true, size: 0)
                start(id) { .failure(await subtree.refusal(error, at: path)) }
                return
            }
            // A query without a reply has no effect, so it is skipped.
            guard wantsReply || method.kind.isChange else { return }
            var call = Call(
                connection: self,
                sender: reply.sender,
                path: path,
                interface: owner.name,
                member: MemberName(checked: member),
                wantsReply: wantsReply
            )
            let counts = method.kind.counts
            // Checked before the arguments are read, and again once their size is known.
            if counts { try pendingCalls.check(reply.sender) }
            let arguments = try method.arguments(
                of: message,
                for: call,
                within: pendingCalls.limits,
                libdbus: libdbus
            )
            if counts { try pendingCalls.check(reply.sender, size: arguments.count) }
            if let now = method.now, !pendingCalls.hasLine(reply.sender),
                let results = now(call, arguments), !results.isLong
            {
                return answer(.success(results), to: reply)
            }
            let size = counts ? arguments.count : nil
            call.id = pendingCalls.begin(reply, wantsReply: wantsReply, size: size)
            run(method, of: owner, call, arguments)
        } catch {
            guard wantsReply else { return }
            answer(.failure(error), to: reply)
        }
    }

    private func run(
        _ method: Method,
        of interface: Interface,
        _ call: Call,
        _ arguments: WireReader
    ) {
        switch method.body {
        case .task(let body):
            // Handlers of Properties do not check that an object of a subtree exists.
            let isOfProperties = call.interface == Interface.propertiesName
            let subtree = isOfProperties ? objects.subtree(around: call.path) : nil
            pendingCalls.start(call.id, hasTask: true) {
                self.start(call.id) {
                    let outcome: Result<WireWriter, BusError>
                    do {
                        outcome = .success(try await body(call, arguments))
                    } catch {
                        outcome = .failure(interface.reply(to: call, thrown: error))
                    }
                    return await subtree?.judged(outcome, at: call.path) ?? outcome
                }
            }
        case .answering(let body):
            let answer: Answer<WireWriter> = { [executor] outcome in
                let outcome = outcome.mapError { interface.reply(to: call, thrown: $0) }
                executor.run { self.assumeIsolated { $0.finish(call.id, with: outcome) } }
            }
            pendingCalls.start(call.id, hasTask: false) {
                do { try body(call, arguments, answer) } catch { answer(.failure(error)) }
            }
        }
    }

    /// Cancels the handler of a call when its sender leaves the bus.
    func watchDeparture(of sender: BusName, for id: Int) {
        pendingCalls.endWithSender(id)
        guard watchedSenders.insert(sender).inserted else { return }
        Task {
            defer { watchedSenders.remove(sender) }
            // Most calls are answered at once, and need no match rule.
            try? await Task.sleep(for: .milliseconds(100))
            guard pendingCalls.hasCalls(endingWith: sender) else { return }
            let peer = Proxy(self, sender, "/", "org.freedesktop.DBus.Peer")
            // If the bus takes no match rule, the calls go on, within the limits of their methods.
            if (try? await peer.waitUntilGone()) != nil { pendingCalls.cancel(endingWith: sender) }
        }
    }

    // MARK: Handlers

    /// Answers every later call with this error; running calls continue.
    ///
    /// For a service that is ending, together with ``waitUntilAnswered()`` and
    /// ``refuseCalls(with:)``.
    public func refuseNewCalls(with error: BusError) { refusal = error }

    /// Answers every running call, and every later one, with this error.
    ///
    /// For a service that is ending: its handlers are cancelled, and every caller gets an answer.
    /// Long answers that are waiting to be sent are sent first.
    public func refuseCalls(with error: BusError) {
        refusal = error
        sendLongAnswers(all: true)
        for reply in pendingCalls.cancelAll() { answer(.failure(error), to: reply) }
    }

    /// Sets the limits for each sender's waiting calls, from the next call on.
    public func limitCalls(_ limits: CallLimits) { pendingCalls.limits = limits }

    /// Runs a handler up to its first suspension before returning; its task answers the call once.
    private func start(
        _ id: Int,
        _ handler: @escaping @Sendable () async -> Result<WireWriter, BusError>
    ) {
        let task = Task.immediate { finish(id, with: await handler()) }
        pendingCalls.attach(task, to: id)
    }

    /// Answers a call that has no answer yet; a long answer first waits for the shorter ones.
    private func finish(_ id: Int, with outcome: Result<WireWriter, BusError>) {
        if case .success(let results) = outcome, results.isLong {
            let task = Task.immediate { await finish(id, withLong: results) }
            return pendingCalls.attach(task, to: id)
        }
        if let reply = pendingCalls.finish(id) { answer(outcome, to: reply) }
        callsShrank()
    }

    /// Encodes a long answer on another thread, and sends it when the shorter answers are sent.
    private func finish(_ id: Int, withLong results: consuming WireWriter) async {
        guard let reply = pendingCalls.address(of: id) else {
            return finish(id, with: .success(WireWriter()))
        }
        do throws(BusError) {
            let message = try await Self.message(results, to: reply, libdbus: libdbus)
            // The connection has ended, or the call was answered meanwhile.
            guard link != nil, pendingCalls.address(of: id) != nil else { return }
            longAnswers.append((id, message))
            sendLongAnswers()
        } catch {
            finish(id, with: .failure(error))
        }
    }

    /// Sends long answers while the bus has taken all earlier bytes; with `all`, sends every one.
    func sendLongAnswers(all: Bool = false) {
        defer { callsShrank() }
        while let link, !longAnswers.isEmpty, all || link.outgoingBytes == 0 {
            let next = longAnswers.removeFirst()
            // The service may have ended meanwhile, and the call been answered with an error.
            guard let reply = pendingCalls.finish(next.id) else { continue }
            do throws(BusError) {
                try link.send(next.message)
            } catch {
                answer(.failure(error), to: reply)
            }
        }
    }

    @concurrent
    private static func message(
        _ results: consuming WireWriter,
        to reply: ReplyAddress,
        libdbus: LibDBusCalls
    ) async throws(BusError) -> sending Message {
        try Message(replyTo: reply, results, libdbus: libdbus)
    }

    /// Sends the one reply to a call.
    ///
    /// Results that cannot be sent become the error reply `Failed`, because the caller's arguments
    /// were right. If memory runs out even for the error, the caller gets no reply from this
    /// process; the caller's timeout, or the end of this connection, ends the call.
    private func answer(_ outcome: Result<WireWriter, BusError>, to reply: ReplyAddress) {
        guard let link else { return }
        do throws(BusError) {
            switch outcome {
            case .success(let results):
                let message = try Message(replyTo: reply, results, libdbus: libdbus)
                guard !results.descriptors.isEmpty else { return try link.send(message) }
                try send(message, withFilesTo: reply)
            case .failure(let error):
                try link.send(try Message(replyTo: reply, error, libdbus: libdbus))
            }
        } catch {
            // `InvalidArgs` would blame the caller, whose arguments were right.
            let isOurs = error.name == BusError.invalidArguments("").name
            let text = "The answer cannot be sent: \(error.message)"
            let told = isOurs ? BusError.failed(text) : error
            guard let message = try? Message(replyTo: reply, told, libdbus: libdbus) else { return }
            try? link.send(message)
        }
    }

    /// Sends a reply that contains open files.
    ///
    /// If the caller's connection does not accept open files, the bus drops the reply and reports
    /// an error only to this process. This method passes that error on to the caller.
    private func send(_ message: Message, withFilesTo reply: ReplyAddress) throws(BusError) {
        let id = try send(message, timeout: .seconds(10))
        Task.immediate {
            guard case .failure(let error) = await answer(to: id),
                error.name == "org.freedesktop.DBus.Error.NotSupported"
            else { return }
            answer(.failure(error), to: reply)
        }
    }
}

/// Returns a header field that every call has: libdbus rejects a call without it.
private func headerField(_ characters: UnsafePointer<CChar>?) throws(BusError) -> String {
    guard let characters else { throw .inconsistentMessage("A header field is missing.") }
    return String(cString: characters)
}
