// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownTesting

@testable import iDownDesktop

/// What is heard of a service that goes, and perhaps comes back, on a real bus.
@Suite(.timeLimit(.minutes(2))) struct BusServiceTests {
    private static let name: BusName = "org.example.Service"

    /// A service that is followed, and says who serves it.
    private struct Scene {
        /// Whoever serves it at first.
        let first: Connection
        /// Whoever may do so later.
        let second: Connection
        /// What came of each question.
        let found: CallLog
        /// What was told of that.
        let told: CallLog
    }

    /// Runs `body` while the service is followed, from when that was first told.
    private func following(
        grace: Duration,
        _ body: (Scene) async throws -> Void
    ) async throws {
        try await withPrivateBus { bus in
            let (found, told) = (CallLog(), CallLog())
            let scene = Scene(
                first: try await Connection.open(.address(bus.address)),
                second: try await Connection.open(.address(bus.address)),
                found: found,
                told: told
            )
            _ = try await scene.first.requestName(Self.name)
            let connection = try await Connection.open(.address(bus.address))
            let service = BusService(connection, Self.name, "/", "org.example.Service")
            let asking: @Sendable () async -> Finding<String> = {
                guard let owner = try? await connection.owner(of: Self.name) else {
                    found.keep("nobody")
                    return .nobody
                }
                found.keep(owner.rawValue)
                return .said(owner.rawValue)
            }
            let running = Task {
                await service.follow(MatchRule(sender: Self.name), grace: grace, asking: asking) {
                    told.keep($0 ?? "nobody")
                }
            }
            let result: Result<Void, any Error>
            do {
                try await told.wait(for: scene.first.uniqueName.rawValue)
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

    @Test func `nothing is told of who is gone where he is back within the grace`() async throws {
        try await following(grace: .seconds(3600)) { scene in
            try await scene.first.releaseName(Self.name)
            try await scene.found.wait(for: "nobody")
            _ = try await scene.second.requestName(Self.name)
            // What was found is told in order: the gap before it was passed over by then.
            try await scene.told.wait(for: scene.second.uniqueName.rawValue)
            #expect(!scene.told.all.contains("nobody"))
        }
    }

    @Test func `who stays away is told to be gone, once the grace is over`() async throws {
        let grace: Duration = .milliseconds(100)
        try await following(grace: grace) { scene in
            let start = ContinuousClock.now
            try await scene.first.releaseName(Self.name)
            try await scene.told.wait(for: "nobody")
            #expect(ContinuousClock.now - start >= grace)
            // When he went, and again at the end.
            #expect(scene.found.all.count { $0 == "nobody" } >= 2)
        }
    }
}
