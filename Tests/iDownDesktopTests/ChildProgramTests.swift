// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownTesting

@testable import iDownDesktop

@Suite(.timeLimit(.minutes(3))) struct ChildProgramTests {
    @Test func `what takes too long ends with what it has started`() async throws {
        try await withTemporaryFolder { folder in
            let script = """
                sleep 600 &
                echo $! > '\(folder)/new'
                mv '\(folder)/new' '\(folder)/started'
                wait
                """
            let program = try ChildProgram(["/bin/sh", "-c", script])
            try await soon("what it starts") { TestFile.exists(folder + "/started") }
            let line = try TestFile.text(of: folder + "/started").split(separator: "\n").first
            let started = try #require(line.flatMap { Int($0) })
            let error = await #expect(throws: UserPrograms.Failure.self) {
                try await program.end(within: .zero)
            }
            #expect(error?.description == "signal 15 ended it")
            try await soon("the end of what it started") { !Self.isRunning(started) }
        }
    }

    /// Whether there is such a process; one that nobody has waited for yet has ended: proc(5).
    private static func isRunning(_ process: Int) -> Bool {
        guard let status = try? TestFile.text(of: "/proc/\(process)/stat") else { return false }
        return !status.contains(") Z ")
    }
}
