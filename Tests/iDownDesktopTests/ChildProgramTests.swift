// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownTesting

@testable import iDownDesktop

@Suite(.timeLimit(.minutes(3))) struct ChildProgramTests {
    @Test func `a program that takes too long ends together with the processes it has started`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let script = """
                sleep 600 &
                echo $! > '\(folder)/new'
                mv '\(folder)/new' '\(folder)/started'
                wait
                """
            let program = try ChildProgram(["/bin/sh", "-c", script])
            try await soon("the child's child to start") { TestFile.exists(folder + "/started") }
            let line = try TestFile.text(of: folder + "/started").split(separator: "\n").first
            let started = try #require(line.flatMap { Int($0) })
            let error = await #expect(throws: ProgramLauncher.Failure.self) {
                try await program.waitForEnd(within: .zero)
            }
            #expect(error?.description == "signal 15 ended the program")
            try await soon("the child's child to end") { !Self.isRunning(started) }
        }
    }

    /// Whether the process runs; a zombie process does not: proc(5).
    private static func isRunning(_ process: Int) -> Bool {
        guard let status = try? TestFile.text(of: "/proc/\(process)/stat") else { return false }
        return !status.contains(") Z ")
    }
}
