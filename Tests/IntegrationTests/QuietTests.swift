// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownBus
import iDownTesting

/// Whether idownd was built with threads of its own; the manifest chooses.
private let hasOwnThreads: Bool = {
    #if OWN_THREADS
        true
    #else
        false
    #endif
}()

/// That the service sleeps when it has nothing to do.
@Suite(
    .enabled(
        if: hasOwnThreads,
        "LOST: built without OWN_THREADS (see Package.swift), idownd wakes up every second when idle"
    ),
    .timeLimit(.minutes(5))
)
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

    /// That it has timers, and none of Dispatch's watch.
    private func checkTimers(of service: ServiceUnderTest) async throws {
        let clocks = timerClocks(of: try await service.processID())
        // It has timers: else this looks for them in the wrong place.
        #expect(clocks.contains(CLOCK_BOOTTIME))
        #expect(!clocks.contains(CLOCK_MONOTONIC))
    }

    /// Nothing is left, or nothing but one page is lost.
    @Test(arguments: [0..<60_000, 200_704..<204_800])
    func `no monotonic timer runs after a list was recovered`(damage: Range<Int>) async throws {
        try await withService { service in
            let urls = (0..<300).map { "http://127.0.0.1:9/\($0)" }
            var options = AddOptions()
            options.paused = true
            _ = try await service.client.addURLs(urls, options: options)
            _ = try await service.terminate()
            var content = try TestFile.bytes(of: service.home.store)
            let place = damage.clamped(to: content.indices)
            content.replaceSubrange(place, with: repeatElement(0xa5, count: place.count))
            for companion in ["-wal", "-shm"] { unlink(service.home.store + companion) }
            try TestFile.write(content, to: service.home.store)
            try await service.start()
            let broken = TestFile.names(in: service.home.state).contains { $0.contains(".broken-") }
            #expect(broken)
            let held = try await service.client.addURL("http://127.0.0.1:9/", options: AddOptions())
            try await service.waitForState("waiting", "failed", of: held)
            try await checkTimers(of: service)
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
                try await checkTimers(of: service)
                try await service.restart()
            }
        }
    }
}
