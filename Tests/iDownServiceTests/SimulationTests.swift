// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Testing
import iDownTesting

/// The whole service in worlds that seeds drive; see `Simulation`.
///
/// `SEEDS` says how many, `SEED` where they begin: `make simulate SEEDS=20000`. `make test` runs
/// one thousand, in a process of their own (`.ci/test`).
@Suite struct SimulationTests {
    private static func number(_ name: String) -> UInt64? {
        getenv(name).flatMap { UInt64(String(cString: $0)) }
    }

    /// What is wrong with a seed, on one queue from the first to the last job.
    private func wrongs(
        _ seed: UInt64,
        planting bug: Simulation.PlantedBug? = nil
    ) async throws -> [String] {
        try await withMemoryFolder { folder in
            let service = try QueueExecutor()
            let executor = SimulatedExecutor(service)
            return try await executor.run {
                let simulation = Simulation(
                    seed: seed,
                    folder: folder,
                    bug: bug,
                    service,
                    executor
                )
                return try await simulation.play(steps: 90)
            }
        }
    }

    @Test func `no seed loses a task, a byte or a word, and every one comes to its end`()
        async throws
    {
        let first = Self.number("SEED") ?? 1
        let count = Self.number("SEEDS") ?? (Self.number("SEED") == nil ? 150 : 1)
        for seed in first..<(first + count) {
            let wrongs = try await wrongs(seed)
            guard !wrongs.isEmpty else { continue }
            Issue.record("make simulate SEED=\(seed): \(wrongs.joined(separator: "; "))")
            return
        }
    }

    @Test(arguments: [Simulation.PlantedBug.checkpointBeforeSync, .announceBeforePersist])
    func `a fault that is planted on purpose is found`(bug: Simulation.PlantedBug) async throws {
        for seed in 1...2_000 as ClosedRange<UInt64> {
            if try await !wrongs(seed, planting: bug).isEmpty { return }
        }
        Issue.record("2,000 seeds did not find it")
    }

    @Test(arguments: [1, 77, 9_705] as [UInt64]) func `a seed does the same again`(seed: UInt64)
        async throws
    {
        let first = try await course(of: seed)
        #expect(try await course(of: seed) == first)
    }

    /// `DAYS` asks for more, or fewer.
    @Test func `ten days of use let neither memory nor descriptors nor the list grow`()
        async throws
    {
        let days = Int(Self.number("DAYS") ?? 10)
        let holdings = try await withMemoryFolder { folder in
            let service = try QueueExecutor()
            let executor = SimulatedExecutor(service)
            return try await executor.run {
                let simulation = Simulation(
                    seed: 10,
                    folder: folder,
                    bug: nil,
                    service,
                    executor
                )
                let holdings = try await simulation.live(days: days, filesADay: 60)
                #expect(simulation.clients.wrongs == [])
                return holdings
            }
        }
        let growth = "\(holdings)"
        try #require(holdings.count == days && days > 3)
        // By then every cache is warm, and as many tasks leave the list as come.
        let (early, late) = (holdings[2], holdings[days - 1])
        #expect(late.files == late.asked && late.asked > 50 * days, "\(growth)")
        #expect(late.descriptors <= early.descriptors, "\(growth)")
        #expect(late.tasks <= early.tasks + 10, "\(growth)")
        #expect(late.list <= early.list + 128 << 10, "\(growth)")
        // The simulation itself keeps some 200 bytes of each file, in arrays that grow by doubling.
        let kept = 512 * (late.asked - early.asked)
        #expect(late.memory <= early.memory + kept + 256 << 10, "\(growth)")
    }

    private func course(of seed: UInt64) async throws -> Simulation.Course {
        try await withMemoryFolder { folder in
            let service = try QueueExecutor()
            let executor = SimulatedExecutor(service)
            return try await executor.run {
                let simulation = Simulation(
                    seed: seed,
                    folder: folder,
                    bug: nil,
                    service,
                    executor
                )
                _ = try await simulation.play(steps: 90)
                return simulation.course
            }
        }
    }
}
