// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownTesting

@testable import iDownDesktop

/// What `follow` reports of a service that stops, and may start again, on a real bus.
@Suite(.timeLimit(.minutes(2))) struct ProxyFollowingTests {
    private static let name: BusName = "org.example.Service"

    /// A followed service, whose value is the unique name of its owner.
    private struct Scene {
        /// The connection that owns the service's name at first.
        let first: Connection
        /// A connection that may own it later.
        let second: Connection
        /// The answer to each query.
        let answers: CallLog
        /// The values that were reported.
        let reports: CallLog
    }

    /// Runs `body` once the first value was reported, and follows the service until `body` returns.
    private func following(
        grace: Duration,
        _ body: (Scene) async throws -> Void
    ) async throws {
        try await withPrivateBus { bus in
            let (answers, reports) = (CallLog(), CallLog())
            let scene = Scene(
                first: try await Connection.open(.address(bus.address)),
                second: try await Connection.open(.address(bus.address)),
                answers: answers,
                reports: reports
            )
            _ = try await scene.first.requestName(Self.name)
            let connection = try await Connection.open(.address(bus.address))
            let service = Proxy(optional: connection, Self.name, "/", "org.example.Service")
            let changes = try await service.owners()
            let query: @Sendable () async -> ServiceAnswer<String> = {
                guard let owner = try? await connection.owner(of: Self.name) else {
                    answers.keep("unavailable")
                    return .unavailable
                }
                answers.keep(owner.rawValue)
                return .value(owner.rawValue)
            }
            let running = Task {
                await ServiceAnswer.follow(changes, grace: grace, query: query) {
                    reports.keep($0 ?? "unavailable")
                }
            }
            let result: Result<Void, any Error>
            do {
                try await reports.wait(for: scene.first.uniqueName.rawValue)
                result = .success(try await body(scene))
            } catch {
                result = .failure(error)
            }
            running.cancel()
            try await within("the end") { await running.value }
            for one in [scene.first, scene.second, connection] { await one.close() }
            try result.get()
        }
    }

    @Test func `a service that returns within the grace period is not reported as gone`()
        async throws
    {
        try await following(grace: .seconds(3600)) { scene in
            try await scene.first.releaseName(Self.name)
            try await scene.answers.wait(for: "unavailable")
            _ = try await scene.second.requestName(Self.name)
            // Reports come in order, so by now a report of the gap would have come.
            try await scene.reports.wait(for: scene.second.uniqueName.rawValue)
            #expect(!scene.reports.all.contains("unavailable"))
        }
    }

    @Test func `a service that stays away is reported as gone after the grace period`() async throws
    {
        let grace: Duration = .milliseconds(100)
        try await following(grace: grace) { scene in
            let start = ContinuousClock.now
            try await scene.first.releaseName(Self.name)
            try await scene.reports.wait(for: "unavailable")
            #expect(ContinuousClock.now - start >= grace)
            // One query when it stopped, and one at the end of the grace period.
            #expect(scene.answers.all.count { $0 == "unavailable" } >= 2)
        }
    }
}
