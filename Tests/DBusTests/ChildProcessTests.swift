// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownTesting

@Suite struct ChildProcessTests {
    @Test func `lines, error text and exit code of a child are seen`() async throws {
        let completed = try await ChildProcess.run(
            "sh",
            ["-c", "echo one; printf two; echo oops >&2; exit 3"]
        )
        #expect(completed.standardOutput == "one\ntwo")
        #expect(completed.standardError == "oops\n")
        #expect(completed.status == .exited(3))
    }

    @Test func `a line arrives while the child still runs`() async throws {
        try await withChild("sh", ["-c", "echo ready; exec cat /dev/zero >/dev/null"]) { child in
            #expect(await child.nextLine() == "ready")
            #expect(!child.hasExited)
            #expect(await child.stop() == .signaled(SIGTERM))
        }
    }

    @Test func `a grandchild that keeps the output open does not hold up the end`() async throws {
        let child = try await ChildProcess.start("sh", ["-c", "sleep 60 & echo $!; exit 0"])
        let grandchild = try #require(await child.nextLine().flatMap { Int32($0) })
        #expect(await child.waitForExit() == .exited(0))
        kill(grandchild, SIGKILL)
    }

    @Test func `input reaches the child and ends`() async throws {
        let completed = try await ChildProcess.run("cat", input: "hello\nworld\n")
        #expect(completed.standardOutput == "hello\nworld")
    }

    @Test func `the given environment is the whole environment`() async throws {
        let completed = try await ChildProcess.run("/usr/bin/env", environment: ["A": "b"])
        #expect(completed.standardOutput == "A=b")
    }

    @Test func `a program that is not installed is named`() async throws {
        await #expect(throws: ChildProcess.StartFailure.self) {
            try await ChildProcess.start("no-such-program-here")
        }
    }
}
