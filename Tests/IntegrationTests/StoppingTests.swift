// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Testing
import iDownBus
import iDownTesting

/// What calls are answered that the end of the service cuts short.
@Suite(.timeLimit(.minutes(60)))
struct StoppingTests {
    /// How often the service is ended; `STOPS=300` for a long run.
    private static let rounds = getenv("STOPS").flatMap { Int(String(cString: $0)) } ?? 6

    private enum Outcome: Hashable {
        case done
        /// `org.idown.Error.Stopping`: nothing has changed.
        case refused
        /// The service was gone before it could take the call.
        case unserved
        case failed(String)
    }

    private static func outcome(
        _ body: () async throws(BusError) -> Void
    ) async -> Outcome {
        do throws(BusError) {
            try await body()
            return .done
        } catch {
            switch error.name {
            case "org.idown.Error.Stopping": return .refused
            case "org.freedesktop.DBus.Error.ServiceUnknown",
                "org.freedesktop.DBus.Error.NameHasNoOwner":
                return .unserved
            default: return .failed("\(error)")
            }
        }
    }

    @Test func `Stopping left nothing, and what succeeded is there after the restart`()
        async throws
    {
        var dice = SeededGenerator(seed: 4)
        try await withService { service in
            for round in 1...Self.rounds {
                let folder = "http://127.0.0.1:9/\(round)"
                var options = AddOptions()
                options.paused = true
                let victims = try await service.client.addURLs(
                    (0..<40).map { "\(folder)/victim/\($0)" },
                    options: options
                )
                let manager = service.manager
                async let added = Self.outcome { () throws(BusError) in
                    _ = try await manager.call(
                        "AddURLs",
                        (0..<20_000).map { "\(folder)/batch/\($0)" },
                        ["paused": Value.boolean(true)],
                        returning: [String].self
                    )
                }
                async let ended = Self.end(victims, manager)
                async let limits = Self.set(round, manager)
                // From no answer at all to about as many as the calls above take.
                for _ in 0..<Int.random(in: 0..<600, using: &dice) {
                    _ = try? await manager.call(
                        "GetTask",
                        victims[0],
                        returning: [String: Value].self
                    )
                }
                #expect(try await service.terminate() == .exited(0))
                let (addition, ends, sets) = await (added, ended, limits)
                try await service.start()
                try await check(
                    service.client,
                    service.manager,
                    round,
                    addition,
                    zip(victims, ends).map { ($0, $1) },
                    sets
                )
            }
        }
    }

    /// Removes and cancels tasks by turns, all at once.
    private static func end(_ ids: [String], _ manager: Proxy) async -> [Outcome] {
        await withTaskGroup { group in
            for (place, id) in ids.enumerated() {
                group.addTask {
                    let verb: MemberName = place % 2 == 0 ? "Remove" : "Cancel"
                    return (
                        place,
                        await outcome { () throws(BusError) in
                            try await manager.call(verb, id)
                        }
                    )
                }
            }
            var outcomes = [Outcome](repeating: .unserved, count: ids.count)
            for await (place, outcome) in group { outcomes[place] = outcome }
            return outcomes
        }
    }

    /// Sets the speed limit, one value after the other until one is not taken.
    private static func set(_ round: Int, _ manager: Proxy) async -> [(UInt64, Outcome)] {
        var outcomes: [(UInt64, Outcome)] = []
        for number in 1...1_000 {
            let limit = UInt64(round * 1_000_000 + number)
            let outcome = await outcome { () throws(BusError) in
                try await manager.set("SpeedLimit", to: limit)
            }
            outcomes.append((limit, outcome))
            guard outcome == .done else { break }
        }
        return outcomes
    }

    private func check(
        _ client: ManagerClient,
        _ manager: Proxy,
        _ round: Int,
        _ addition: Outcome,
        _ ends: [(String, Outcome)],
        _ sets: [(UInt64, Outcome)]
    ) async throws {
        var query = TaskQuery()
        query.text = "/\(round)/batch/"
        query.limit = 1
        let total = try await client.findTasks(query).total
        switch addition {
        case .done: #expect(total == 20_000)
        case .refused, .unserved: #expect(total == 0)
        case .failed(let error): Issue.record("round \(round): AddURLs: \(error)")
        }
        for (place, (id, outcome)) in ends.enumerated() {
            let state = try? await client.getTask(id).state
            switch outcome {
            case .done: #expect(state == (place % 2 == 0 ? nil : .cancelled))
            case .refused, .unserved: #expect(state == .paused)
            case .failed(let error): Issue.record("round \(round): \(error)")
            }
        }
        if let last = sets.last(where: { $0.1 == .done }) {
            let limit: UInt64 = try await manager.get("SpeedLimit")
            #expect(limit == last.0, "round \(round): \(sets.suffix(2))")
        }
        for case (_, .failed(let error)) in sets { Issue.record("round \(round): Set: \(error)") }
    }
}
