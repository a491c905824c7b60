// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownBus
import iDownData
import iDownState
import iDownloader

// Hand-overs from browsers.
extension ManagerService {
    /// Turns a hand-over into a task like any other, and returns its id.
    ///
    /// - Throws: `NoSuchTask` for a token that is unknown or was withdrawn.
    func confirm(_ call: Call, _ token: String) async throws -> String {
        try await permit(call)
        let id = try await coordinator.confirmHandOver(try Self.checked(token))
        // Not awaited, because the browser keeps holding its own answer until this call is
        // answered.
        Task { [coordinator, tookOver] in
            guard let task = try? await coordinator.task(id) else { return }
            let old = try? await coordinator.taskToContinue(with: id, token: token)
            tookOver(task, old)
        }
        return id.description
    }

    /// Takes back a hand-over for good.
    func withdraw(_ call: Call, _ token: String) async throws {
        try await permit(call)
        try await coordinator.withdrawHandOver(try Self.checked(token))
    }

    private static func checked(_ token: String) throws(ManagerError) -> String {
        _ = try AddOptions(["token": .string(token)])
        return token
    }
}

extension Coordinator {
    /// Keeps a download that a browser hands over, as provisional; see ``HandOvers``.
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

    func takeBackHandOver(_ token: String, forEver: Bool) async throws {
        try await handOvers.takeBack(token, forEver: forEver, in: self)
    }
}
