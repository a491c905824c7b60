// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownTesting

/// `idown verify`.
@Suite(.timeLimit(.minutes(2))) struct VerifyCommandTests {
    private let content = TestContent(seed: 94, count: 100_000)

    @Test func `good files are printed, and one that changed is reported with its exit code`()
        async throws
    {
        let host = try FaultServer.serving(ServedFile(content))
        defer { host.stop() }
        try await withService { service in
            let good = try await service.add(host.url("/good"))
            let bad = try await service.add(host.url("/bad"))
            for id in [good, bad] { try await service.waitForState("completed", of: id) }
            let paused = try await service.add(host.url("/paused")) { $0.paused = true }
            let whole = try await idown("verify", "all", in: service)
            #expect(whole.status == .exited(0), "\(whole)")
            #expect(
                whole.standardOutput == "\(good)\tlength\tgood\n\(bad)\tlength\tbad",
                "\(whole)"
            )
            try TestFile.write("short", to: service.home.download("bad"))
            let changed = try await idown("verify", good, bad, in: service)
            #expect(changed.status == .exited(13), "\(changed)")
            let why = try await idown("explain", "completed", in: service)
            #expect(why.standardOutput.contains("Integrity") == false, "\(why)")
            #expect(why.standardOutput.contains("5 bytes instead of 100000"), "\(why)")
            let code = try await idown("explain", "--json", bad, in: service)
            #expect(code.standardOutput.contains("Integrity.SizeMismatch"), "\(code)")
            let list = try await idown("list", "--format", "{Reason}", in: service)
            #expect(list.standardOutput.contains("Integrity."), "\(list)")
            #expect(changed.standardOutput == "\(good)\tlength\tgood")
            #expect(changed.standardError.contains("5 bytes instead of 100000"), "\(changed)")
            let refused = try await idown("verify", paused, in: service)
            #expect(refused.status == .exited(4), "\(refused)")
            // Also beside a range, which skips others.
            let mixed = try await idown("verify", paused, "1-1", in: service)
            #expect(mixed.status == .exited(4), "\(mixed)")
            #expect(mixed.standardError.contains("download \(paused): "), "\(mixed)")
            #expect(try await idown("verify", "99", in: service).status == .exited(3))
        }
    }
}
