// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Testing
import iDownBus
import iDownTesting

/// Commands that hear of a change when the list is another one by then.
@Suite(.timeLimit(.minutes(5)))
struct LateNewsTests {
    private let content = TestContent(seed: 124, count: 200_000)

    @Test func `wait knows that a download was completed before it was cleared`() async throws {
        let host = try ChangingHost(.held(content, after: 100_000))
        defer { host.stop() }
        try await withService { service in
            let id = try await service.addHeld(on: host)
            let waiting = try await ChildProcess.start(
                "sh",
                [
                    "-c", #"exec "$0" wait --progress "$1" 2>&1"#,
                    try BuiltProgram("idown").path, id,
                ],
                environment: service.environment
            )
            let shown = try await within("wait to show a state") { await waiting.nextLine() }
            #expect(shown != nil)
            // What comes now it reads later, all at once.
            waiting.send(SIGSTOP)
            host.letGo()
            try await service.waitForState("completed", of: id)
            #expect(try await service.client.clearCompleted() == 1)
            waiting.send(SIGCONT)
            let status = try await within("wait to end") { await waiting.waitForExit() }
            #expect(status == .exited(0))
        }
    }
}
