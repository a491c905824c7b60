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

    /// From this many rounds on, each kind of call must have been both done and refused.
    private static let manyRounds = 100

    private enum Outcome: Hashable {
        case done
        /// `org.idown.Error.Stopping`: nothing has changed.
        case refused
        /// The service was gone before it could take the call.
        case unserved
        case failed(String)
    }

    /// Waits for an answer as long as a slow machine may need.
    private static func manager(of service: ServiceUnderTest) -> Proxy {
        let manager = service.manager
        return Proxy(
            manager.connection,
            manager.destination,
            manager.path,
            manager.interface,
            timeout: .seconds(300)
        )
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
        var tally = Tally()
        // The speed limit that was taken last, over all rounds.
        var limit: UInt64 = 0
        try await withService { service in
            for round in 1...Self.rounds {
                let folder = "http://127.0.0.1:9/\(round)"
                var options = AddOptions()
                options.paused = true
                let victims = try await service.client.addURLs(
                    (0..<40).map { "\(folder)/victim/\($0)" },
                    options: options
                )
                let manager = Self.manager(of: service)
                async let added = Self.outcome { () throws(BusError) in
                    _ = try await manager.call(
                        "AddURLs",
                        (0..<20_000).map { "\(folder)/batch/\($0)" },
                        ["paused": Value.boolean(true)],
                        returning: [String].self
                    )
                }
                async let ended = Self.end(victims, manager, atOnce: round % 2 == 0)
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
                tally.count("AddURLs", [addition])
                for (place, verb) in Self.verbs.enumerated() {
                    tally.count(verb, ends.indices.filter { $0 % 2 == place }.map { ends[$0] })
                }
                tally.count("Set", sets.map(\.1))
                limit = sets.last { $0.1 == .done }?.0 ?? limit
                try await service.start()
                try await check(
                    service.client,
                    service.manager,
                    round,
                    addition,
                    zip(victims, ends).map { ($0, $1) },
                    sets,
                    limit
                )
            }
        }
        guard Self.rounds >= Self.manyRounds else { return }
        print("\(Self.rounds) stops: \(tally)")
        for kind in ["AddURLs", "Set"] + Self.verbs {
            #expect(tally[kind, "done"] > 0 && tally[kind, "refused"] > 0, "\(kind): \(tally)")
        }
    }

    @Test func `each call is answered that comes while the service ends`() async throws {
        var dice = SeededGenerator(seed: 5)
        try await withService { service in
            var options = AddOptions()
            options.paused = true
            let id = try await service.client.addURL("http://127.0.0.1:9/a", options: options)
            for _ in 1...8 {
                let manager = Self.manager(of: service)
                async let last = withTaskGroup { group in
                    for _ in 1...200 {
                        group.addTask { await Self.lastOutcome(of: id, manager) }
                    }
                    var outcomes: [Outcome: Int] = [:]
                    for await outcome in group { outcomes[outcome, default: 0] += 1 }
                    return outcomes
                }
                for _ in 0..<Int.random(in: 1..<20, using: &dice) {
                    _ = await Self.outcome { () throws(BusError) in
                        _ = try await manager.call("GetTask", id, returning: [String: Value].self)
                    }
                }
                #expect(try await service.terminate() == .exited(0))
                let outcomes = await last
                #expect(Set(outcomes.keys).isSubset(of: [.refused, .unserved]), "\(outcomes)")
                try await service.start()
            }
        }
    }

    /// Asks for a task until the service does not give it any more.
    private static func lastOutcome(of id: String, _ manager: Proxy) async -> Outcome {
        while true {
            let outcome = await outcome { () throws(BusError) in
                _ = try await manager.call("GetTask", id, returning: [String: Value].self)
            }
            guard outcome == .done else { return outcome }
        }
    }

    /// How often each kind of call came to each outcome.
    private struct Tally: CustomStringConvertible {
        private var counts: [String: [String: Int]] = [:]

        mutating func count(_ kind: String, _ outcomes: [Outcome]) {
            for outcome in outcomes { counts[kind, default: [:]]["\(outcome)", default: 0] += 1 }
        }

        subscript(kind: String, outcome: String) -> Int { counts[kind]?[outcome] ?? 0 }

        var description: String {
            counts.sorted { $0.key < $1.key }.map { kind, outcomes in
                let parts = outcomes.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
                return "\(kind) \(parts.joined(separator: ", "))"
            }.joined(separator: "; ")
        }
    }

    /// The calls that end tasks, which take turns.
    private static let verbs = ["Remove", "Cancel"]

    /// Removes and cancels tasks by turns, all at once or one after the other.
    private static func end(
        _ ids: [String],
        _ manager: Proxy,
        atOnce: Bool
    ) async -> [Outcome] {
        @Sendable func end(_ place: Int) async -> Outcome {
            await outcome { () throws(BusError) in
                try await manager.call(place % 2 == 0 ? "Remove" : "Cancel", ids[place])
            }
        }
        guard atOnce else {
            var outcomes: [Outcome] = []
            for place in ids.indices { outcomes.append(await end(place)) }
            return outcomes
        }
        return await withTaskGroup { group in
            for place in ids.indices {
                group.addTask { (place, await end(place)) }
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
        _ sets: [(UInt64, Outcome)],
        _ limit: UInt64
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
        let limitNow: UInt64 = try await manager.get("SpeedLimit")
        #expect(limitNow == limit, "round \(round): \(sets.suffix(2))")
        for case (_, .failed(let error)) in sets { Issue.record("round \(round): Set: \(error)") }
    }
}
