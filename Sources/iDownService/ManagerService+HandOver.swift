// SPDX-License-Identifier: Apache-2.0

package import DBus
import Executors
import Logging
package import iDownBus
import iDownData
import iDownSettings
import iDownState
import iDownloader

/// The calls of HandOver that are at work.
///
/// A hand-over whose calls have all gone unanswered is taken back: its browser goes on by itself.
final class HandOverCalls {
    /// The calls with one token.
    private struct Calls {
        var count = 0
        /// Whether the hand-over is provisional by one of them.
        var isNew = false
        /// Whether one of them has had its answer.
        var isAnswered = false
    }

    private var tokens: [String: Calls] = [:]
    private var tasks: [Int: Task<Void, Never>] = [:]
    private var last = 0

    func begin(
        _ work: @escaping @Sendable () async -> Void,
        in service: isolated ManagerService
    ) {
        last += 1
        let number = last
        tasks[number] = Task {
            await work()
            end(number, in: service)
        }
    }

    private func end(_ number: Int, in _: isolated ManagerService) { tasks[number] = nil }

    func enter(_ token: String) { tokens[token, default: Calls()].count += 1 }

    /// Takes note that the hand-over is provisional by a call with this token.
    func noteNew(_ token: String) { tokens[token]?.isNew = true }

    func noteAnswer(_ token: String) { tokens[token]?.isAnswered = true }

    /// Ends a call.
    ///
    /// - Returns: whether the hand-over is to be taken back: no call has had its answer, and none
    ///   can have it any more.
    func leave(_ token: String) -> Bool {
        guard var calls = tokens[token] else { return false }
        calls.count -= 1
        tokens[token] = calls.count > 0 ? calls : nil
        return calls.count == 0 && calls.isNew && !calls.isAnswered
    }
}

// Hand-overs from browsers.
extension ManagerService {
    package nonisolated func handOver(
        _ url: String,
        options: HandOverOptions,
        call: Call,
        answer: @escaping @Sendable (Result<String, ManagerError>) -> Void
    ) {
        coordinator.executor.run {
            self.assumeIsolated { service in
                let deadline = service.coordinator.time.now + HandOvers.patience
                service.handOverCalls.begin(
                    { await service.serve(url, options, call, until: deadline, answer) },
                    in: service
                )
            }
        }
    }

    package func confirm(_ token: String, call: Call) async throws(ManagerError) -> String {
        try await named {
            try await permit(call)
            return try await coordinator.confirmHandOver(try Self.checked(token)).description
        }
    }

    package func withdraw(_ token: String, call: Call) async throws(ManagerError) {
        try await named {
            try await permit(call)
            try await coordinator.withdrawHandOver(try Self.checked(token))
        }
    }

    private static func checked(_ token: String) throws(ManagerError) -> String {
        _ = try AddOptions(["token": .string(token)])
        return token
    }

    private func serve(
        _ url: String,
        _ options: HandOverOptions,
        _ call: Call,
        until deadline: TimeAndChance.Instant,
        _ answer: @escaping @Sendable (Result<String, ManagerError>) -> Void
    ) async {
        let token = options.download.token ?? ""
        handOverCalls.enter(token)
        var isGone = false
        do {
            try await permit(call)
            // The disk of the folder may hang.
            let judged = await promptly(within: rest(until: deadline)) {
                await self.judge(url, options)
            }
            guard let wish = try judged?.get() else {
                throw ServiceRefusal.disagreed("The folder for downloads does not answer.")
            }
            let (id, isNew) = try await coordinator.handOver(
                wish,
                token: token,
                seen: SeenAnswer(options),
                until: deadline
            )
            if isNew { handOverCalls.noteNew(token) }
            let isThere = await promptly(within: rest(until: deadline)) {
                await !call.isForNobody
            }
            isGone = isThere == false
            guard isThere == true, rest(until: deadline) > .zero else {
                throw ServiceRefusal.disagreed("The answer would come too late.")
            }
            answer(.success(id.description))
            // The bus may hang.
            let isSent: Void? = await promptly(within: rest(until: deadline)) {
                await call.connection.flush()
            }
            if isSent != nil { handOverCalls.noteAnswer(token) } else { isGone = true }
            if handOverCalls.leave(token) { await takeBack(token, forEver: isGone) }
        } catch {
            if handOverCalls.leave(token) { await takeBack(token, forEver: isGone) }
            answer(named(.failure(error)))
        }
    }

    private func judge(
        _ url: String,
        _ options: HandOverOptions
    ) async -> Result<NewTask, any Error> {
        do {
            return .success(try await wish(url, options))
        } catch {
            return .failure(error)
        }
    }

    /// The future task.
    ///
    /// A page may have chosen it: nothing that the user has stored is used for it, and it lies in
    /// the folder for downloads.
    private func wish(_ url: String, _ options: HandOverOptions) async throws -> NewTask {
        var rules = rules
        rules.enclosingFolder = directory
        var options = options
        // Whether its name is taken is looked at when it gets one.
        let onExisting = options.download.onExisting
        options.download.onExisting = nil
        let wishes = Wishes(
            engine: engine,
            downloadDirectory: directory,
            rules: rules,
            retryFor: Int64(settings.retryFor)
        )
        guard var task = try await wishes.judge([url], options.download, isList: false).first else {
            throw ManagerError(.failed, "The URL stands for no download. Please report this.")
        }
        task.request.onExisting = onExisting == .fail ? .fail : .rename
        task.request.usesStoredLogins = false
        task.request.isPrivate = options.isPrivate
        task.request.fileName = options.suggestedName.flatMap { FileName(sanitizing: $0)?.text }
        return task
    }

    private func rest(until deadline: TimeAndChance.Instant) -> Duration {
        max(.zero, deadline - coordinator.time.now)
    }

    /// Takes a hand-over back that nobody has been told of.
    ///
    /// - Parameters:
    ///   - token: its token.
    ///   - forEver: whether the caller has gone, so that nobody can give the token again; otherwise
    ///     it is free.
    private func takeBack(_ token: String, forEver: Bool) async {
        do {
            if forEver {
                try await coordinator.withdrawHandOver(token)
            } else {
                try await coordinator.forgetHandOver(token)
            }
        } catch {
            log.warning("a hand-over could not be taken back: \(ManagerError(error))")
        }
    }
}

extension SeenAnswer {
    fileprivate init(_ options: HandOverOptions) {
        self.init(
            status: options.status.map { Int($0) },
            size: options.size.map { Int64(clamping: $0) },
            entityTag: options.entityTag,
            lastModified: options.lastModified,
            mimeType: options.mimeType
        )
    }
}

extension Coordinator {
    /// Keeps a download as provisional that a browser hands over; see ``HandOvers``.
    func handOver(
        _ wish: NewTask,
        token: String,
        seen: SeenAnswer,
        until deadline: TimeAndChance.Instant
    ) async throws -> (id: TaskID, isNew: Bool) {
        try await handOvers.take(wish, token: token, seen: seen, until: deadline, in: self)
    }

    func confirmHandOver(_ token: String) async throws -> TaskID {
        try await handOvers.confirm(token, in: self)
    }

    func withdrawHandOver(_ token: String) async throws {
        try await handOvers.withdraw(token, in: self)
    }

    func forgetHandOver(_ token: String) async throws {
        try await handOvers.forget(token, in: self)
    }
}
