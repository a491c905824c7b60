// SPDX-License-Identifier: Apache-2.0

import DBus
import Dispatch
import Glibc
import Synchronization
import iDownBrowser
import iDownBus
import iDownSettings

/// The native host: carries the messages of a browser's extension to the service.
///
/// If the service ends before it answers a hand-over, the call is repeated with the same token. If
/// no answer comes, because the service hangs or the browser has ended, the hand-over is withdrawn:
/// the service handles Withdraw after HandOver, even if this program has ended by then. An answered
/// hand-over is left to the extension, or to the service, which confirms it after a minute.
actor BrowserHost {
    /// How long to wait for a hand-over: the service answers within 3 seconds, and messages take
    /// time.
    private static let handOverPatience: Duration = .milliseconds(3500)
    /// How long to wait for other answers: the service may first have to start and to read its
    /// list.
    private static let patience: Duration = .seconds(20)
    /// How long the withdrawals at the end may take: the browser kills a host that does not end.
    private static let endPatience: Duration = .milliseconds(1500)
    /// The most requests under way; further ones wait in the pipe.
    private static let most = 64

    private let streams = NativeStreams()
    private var connection: Connection?
    /// The tokens of hand-overs whose answers were not written.
    ///
    /// The writing thread removes them, so that no hand-over is withdrawn whose answer the browser
    /// may have.
    private let unanswered = Mutex<Set<String>>([])
    private var isEnding = false
    /// The last change of a rule, which the next change waits for.
    private var lastChange: Task<BrowserAnswer, Never>?

    /// Answers messages until standard input ends.
    func serve() async {
        await withTaskGroup(of: Void.self) { requests in
            // Connects to the bus while the first message arrives.
            requests.addTask { _ = try? await self.client(within: Self.patience) }
            var count = 1
            while let message = await streams.next() {
                if count == Self.most {
                    await requests.next()
                    count -= 1
                }
                requests.addTask { await self.answer(message) }
                count += 1
            }
            await end()
            requests.cancelAll()
        }
    }

    private func end() async {
        isEnding = true
        // Waits until all answers before it are written.
        _ = await streams.write([])
        await withTaskGroup(of: Void.self) { withdrawals in
            for token in unanswered.withLock(\.self) {
                withdrawals.addTask { await self.takeBack(token, within: Self.endPatience) }
            }
        }
    }

    // MARK: Requests

    private func answer(_ message: [UInt8]?) async {
        let request: BrowserRequest
        do throws(BrowserRefusal) {
            guard let message else { throw .tooLong }
            request = try BrowserRequest(message)
        } catch {
            _ = await streams.write(BrowserAnswer.refused(error).bytes)
            return
        }
        let id = request.id
        switch request.action {
        case .handOver(let url, let options):
            await handOver(id, url, options)
        case .leave(let host):
            await change(id) { (client) throws(ManagerError) in
                let now = try await client.value(of: .browserLeaveHosts)
                guard case .words(let hosts) = now, !hosts.contains(host) else { return }
                try await client.set(.browserLeaveHosts, to: .words(hosts + [host]))
            }
        case .take(let host):
            await change(id) { (client) throws(ManagerError) in
                let now = try await client.value(of: .browserLeaveHosts)
                guard case .words(let hosts) = now else { return }
                // A rule for a domain also holds for its subdomains.
                let others = hosts.filter { !".\(host)".hasSuffix(".\($0.lowercased())") }
                guard others != hosts else { return }
                try await client.set(.browserLeaveHosts, to: .words(others))
            }
        case .turn(let isOn):
            await change(id) { (client) throws(ManagerError) in
                try await client.set(.browserHandOver, to: .flag(isOn))
            }
        case .hello:
            await reply(id) { (client) throws(ManagerError) in
                async let running = Self.running(client)
                let rules = try await Self.rules(client)
                return .hello(id, rules, running: try await running.get())
            }
        case .confirm(let token):
            await reply(id) { (client) throws(ManagerError) in
                .task(id, try await client.confirm(token))
            }
        case .withdraw(let token):
            await reply(id) { (client) throws(ManagerError) in
                try await client.withdraw(token)
                return .done(id)
            }
        case .open:
            await reply(id) { (client) throws(ManagerError) in
                try await client.activate()
                return .done(id)
            }
        }
    }

    private func handOver(_ id: Int64, _ url: String, _ options: HandOverOptions) async {
        let token = options.download.token ?? ""
        unanswered.withLock { _ = $0.insert(token) }
        do throws(ManagerError) {
            let task = try await asking(within: Self.handOverPatience) {
                (client) throws(ManagerError) in
                try await client.handOver(url, options: options)
            }
            // The browser has ended, and the hand-over is being withdrawn.
            guard !isEnding else { return }
            _ = await streams.write(BrowserAnswer.task(id, task).bytes) { self.settle(token) }
        } catch {
            if !error.isUnreachable { settle(token) }
            guard !isEnding else { return }
            _ = await streams.write(BrowserAnswer.refused(BrowserRefusal(id, error)).bytes)
            guard error.isUnreachable else { return }
            // The browser now downloads the file itself, so a late hand-over must not stay.
            await takeBack(token, within: Self.patience)
            settle(token)
        }
    }

    private nonisolated func settle(_ token: String) {
        unanswered.withLock { _ = $0.remove(token) }
    }

    private func takeBack(_ token: String, within limit: Duration) async {
        do throws(ManagerError) {
            try await asking(within: limit) { (client) throws(ManagerError) in
                try await client.withdraw(token)
            }
        } catch {
            // The service can be neither reached nor started; a hand-over that it has kept will be
            // confirmed.
        }
    }

    /// Changes a rule after all earlier changes, and answers with all rules.
    private func change(
        _ id: Int64,
        _ body: @escaping @Sendable (ManagerClient) async throws(ManagerError) -> Void
    ) async {
        let former = lastChange
        let change = Task {
            _ = await former?.value
            return await result(id) { (client) throws(ManagerError) in
                try await body(client)
                return .rules(id, try await Self.rules(client))
            }
        }
        lastChange = change
        _ = await streams.write(await change.value.bytes)
    }

    private func reply(
        _ id: Int64,
        _ body: @Sendable (ManagerClient) async throws(ManagerError) -> BrowserAnswer
    ) async {
        _ = await streams.write(await result(id, body).bytes)
    }

    private func result(
        _ id: Int64,
        _ body: @Sendable (ManagerClient) async throws(ManagerError) -> BrowserAnswer
    ) async -> BrowserAnswer {
        do throws(ManagerError) {
            return try await asking(within: Self.patience, body)
        } catch {
            return .refused(BrowserRefusal(id, error))
        }
    }

    private static func running(
        _ client: ManagerClient
    ) async -> Result<UInt32, ManagerError> {
        do throws(ManagerError) {
            return .success(try await client.activeCount())
        } catch {
            return .failure(error)
        }
    }

    private static func rules(
        _ client: ManagerClient
    ) async throws(ManagerError) -> BrowserRules {
        BrowserRules(try await client.settings(of: .settings))
    }

    // MARK: The service

    /// Asks the service; asks again if the service ended before it answered.
    ///
    /// Every request may be repeated.
    private func asking<Value: Sendable>(
        within limit: Duration,
        _ body: @Sendable (ManagerClient) async throws(ManagerError) -> Value
    ) async throws(ManagerError) -> Value {
        let deadline = ContinuousClock.now + limit
        while true {
            let rest = deadline - ContinuousClock.now
            do throws(ManagerError) {
                return try await body(try await client(within: rest))
            } catch {
                let isRepeatable = error.code == .noReply || error.code == .disconnected
                guard isRepeatable, deadline - ContinuousClock.now > Self.leastPatience else {
                    throw error
                }
                try? await Task.sleep(for: Self.pause)
                if Task.isCancelled { throw error }
            }
        }
    }

    /// With less time left than this, no call is repeated.
    private static let leastPatience: Duration = .milliseconds(200)
    /// The pause before a call is repeated.
    private static let pause: Duration = .milliseconds(50)

    private func client(within limit: Duration) async throws(ManagerError) -> ManagerClient {
        if let connection, await connection.isOpen {
            return ManagerClient(connection, patience: limit)
        }
        do throws(BusError) {
            let connection = try await Connection.open(.session)
            self.connection = connection
            return ManagerClient(connection, patience: limit)
        } catch {
            throw ManagerError(.noServer, "There is no session bus here: \(error.message)")
        }
    }
}

/// Standard input and output as messages.
///
/// Both may block, so each has a thread of its own.
private struct NativeStreams: Sendable {
    private let input = DispatchQueue(label: "org.idown.browser.input")
    private let output = DispatchQueue(label: "org.idown.browser.output")

    /// Reads the next message: read(2).
    ///
    /// - Returns: The message; `.some(nil)` for one that was too long and was skipped; nil at the
    ///   end.
    func next() async -> [UInt8]?? {
        await withCheckedContinuation { continuation in
            input.async { continuation.resume(returning: Self.readMessage()) }
        }
    }

    /// Writes a whole message, after those of earlier calls of the same actor: write(2).
    ///
    /// - Parameters:
    ///   - bytes: The message.
    ///   - isolation: The caller's actor, so that messages are written in the order of the calls.
    ///   - written: Called after this message was written to the pipe and before the next one is.
    /// - Returns: Whether it was written to the browser's pipe.
    func write(
        _ bytes: [UInt8],
        isolation: isolated (any Actor)? = #isolation,
        written: @escaping @Sendable () -> Void = {}
    ) async -> Bool {
        await withCheckedContinuation { continuation in
            output.async {
                let isWritten = Descriptor.write(bytes, to: STDOUT_FILENO)
                if isWritten { written() }
                continuation.resume(returning: isWritten)
            }
        }
    }

    private static func readMessage() -> [UInt8]?? {
        guard let header = read(NativeMessage.headerSize) else { return nil }
        var rest = NativeMessage.length(header)
        if rest <= NativeMessage.limit { return read(rest).map { .some($0) } }
        while rest > 0 {
            guard let piece = read(min(rest, NativeMessage.limit)) else { return nil }
            rest -= piece.count
        }
        return .some(nil)
    }

    /// Returns this many bytes; nil if the input ends before.
    private static func read(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var place = 0
        while place < count {
            let number = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(STDIN_FILENO, buffer.baseAddress.map { $0 + place }, count - place)
            }
            if number < 0, errno == EINTR { continue }
            guard number > 0 else { return nil }
            place += number
        }
        return bytes
    }
}
