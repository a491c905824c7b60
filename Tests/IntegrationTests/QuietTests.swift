// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownBus
import iDownTesting

/// Whether this compiler's way to choose executors is known.
private let choosesExecutors: Bool = {
    #if compiler(>=6.3) && compiler(<6.4)
        true
    #else
        false
    #endif
}()

/// That the service sleeps when it has nothing to do.
@Suite(.enabled(if: choosesExecutors, "built by Swift 6.3"), .timeLimit(.minutes(5)))
struct QuietTests {
    /// The clocks of the timers that a process has: proc(5), fdinfo.
    ///
    /// Dispatch's watch over shared threads counts by CLOCK_MONOTONIC, and nothing else does: the
    /// ends of sleeps are by CLOCK_BOOTTIME.
    private func timerClocks(of process: Int32) -> [Int32] {
        TestFile.names(in: "/proc/\(process)/fdinfo").flatMap { name in
            // A descriptor may be closed meanwhile.
            let text = (try? TestFile.text(of: "/proc/\(process)/fdinfo/\(name)")) ?? ""
            return text.split(separator: "\n").filter { $0.hasPrefix("clockid:") }
                .compactMap { $0.split(separator: " ").last.flatMap { Int32($0) } }
        }
    }

    @Test func `no thread is one that Dispatch wakes up every second to watch`() async throws {
        let host = try ChangingHost(ServedFile(TestContent(seed: 91, count: 3 << 20)))
        defer { host.stop() }
        try await withService { service in
            // Once with a new list, and once with one that is there already.
            for path in ["/first", "/second"] {
                let client = service.client
                let id = try await service.add(host.url(path))
                try await service.waitForState("completed", of: id)
                _ = try await client.listTasks()
                let held = try await client.addURL("http://127.0.0.1:9/", options: AddOptions())
                try await service.waitForState("waiting", "failed", of: held)
                let clocks = timerClocks(of: try await service.processID())
                // It has timers: else this looks for them in the wrong place.
                #expect(clocks.contains(CLOCK_BOOTTIME))
                #expect(!clocks.contains(CLOCK_MONOTONIC))
                try await service.restart()
            }
        }
    }
}
