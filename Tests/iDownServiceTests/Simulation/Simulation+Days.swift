// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import iDownTesting
import iDownloader

@testable import iDownService
@testable import iDownState

// The service in use for days, without anything out of the ordinary.
extension Simulation {
    /// What the service holds at the end of a day, when nothing is under way.
    struct Holding: Sendable {
        /// Bytes that the process has allocated.
        var memory: Int
        var descriptors: Int
        /// Bytes of the list's files.
        var list: Int64
        var tasks: Int
        /// All files that were asked for so far, and those of them that have come.
        var asked: Int
        var files: Int
    }

    /// A user adds so many files a day, at any time of it; what is finished is taken away by the
    /// user, and leaves the list by itself after a day.
    ///
    /// - Returns: what was held at the end of each day.
    func live(days: Int, filesADay: Int) async throws -> [Holding] {
        mayDieAtOnce = false
        try await start()
        network.calmDown()
        guard let coordinator else { return [] }
        await coordinator.keepCompleted(days: 1)
        var holdings: [Holding] = []
        var files = 0
        for _ in 0..<days where clients.wrongs.isEmpty {
            let evening = time.elapsed + .seconds(86_400)
            var left = filesADay
            while time.elapsed < evening, clients.wrongs.isEmpty {
                if left > 0, roll(3) == 0 {
                    left -= 1
                    add(to: coordinator)
                }
                await rest()
                files += clients.takeFinished(from: disk)
                // Some minutes at once, but nobody sleeps through what is due.
                let pause = Duration.seconds(86_400 / filesADay / 3)
                let end = min(time.elapsed + pause, evening)
                while time.elapsed < end {
                    if time.pass(end - time.elapsed) { await rest() }
                }
            }
            await rest()
            files += clients.takeFinished(from: disk)
            holdings.append(try await holding(files))
        }
        try await wind(down: false)
        return holdings
    }

    /// Lets come what is on its way.
    private func rest() async {
        await settle()
        while network.canStep, clients.wrongs.isEmpty {
            network.step(using: &dice)
            time.pass(.milliseconds(20))
            await settle()
        }
    }

    private func add(to coordinator: Coordinator) {
        let file = network.add(using: &dice)
        let request = TaskRequest(url: file.url(host: roll(3)), directory: disk.folder)
        call(nil) { _ = try await $0.add([NewTask(request: request)], token: nil) }
    }

    /// How many bytes malloc has handed out: mallinfo2(3).
    ///
    /// The pages of the process say less: other suites ran in it before, threads come and go, and
    /// free blocks between used ones keep their pages.
    private static var memory: Int {
        let use = mallinfo2()
        return use.uordblks + use.hblkhd
    }

    private func holding(_ files: Int) async throws -> Holding {
        calls = []
        let list = ["tasks.sqlite", "tasks.sqlite-wal"].reduce(Int64(0)) { sum, name in
            var status = stat()
            return sum + (stat("\(folder)/state/\(name)", &status) == 0 ? Int64(status.st_size) : 0)
        }
        var tasks = 0
        if let store { tasks = try await records(of: store).count }
        return Holding(
            memory: Self.memory,
            descriptors: TestFile.names(in: "/proc/self/fd").count,
            list: list,
            tasks: tasks,
            asked: network.files.count,
            files: files
        )
    }
}
