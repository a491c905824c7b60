// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownData
import iDownState
import iDownTesting
import iDownloader

@testable import iDownService

/// What is learned of hosts from one run of the service to the next.
@Suite(.timeLimit(.minutes(2))) struct CoordinatorHostsTests {
    private static let content = TestContent(seed: 12, count: 3 << 20)

    /// Downloads from a server that refuses every further connection; the number of those.
    private func refusals(
        in folder: String,
        _ server: FaultServer,
        _ hold: ServedFile.Hold
    ) async throws -> Int {
        let before = server.requests.count
        try await withHub(in: folder) { hub in
            await hub.coordinator.rememberHosts(in: HostsFile(folder: folder + "/state"))
            let wish = hub.wish(server.url("/f")) { $0.connections = 4 }
            let id = try #require(try await hub.coordinator.add([wish], token: nil).first)
            if !hold.until.isOpen {
                // All three that were to join have been turned away.
                try await soon("the refusals") {
                    let open = await hub.coordinator.running[id]?.live.connections
                    return server.requests.count == 4 && open == 1
                }
                hold.until.open()
            }
            try await hub.announced.wait(for: id, .completed)
        }
        return server.requests.dropFirst(before).count { $0["Range"] != nil }
    }

    @Test func `a host that has turned some connections away is asked for fewer by the next run`()
        async throws
    {
        let hold = ServedFile.Hold(afterBytes: 64 << 10)
        let file = ServedFile(Self.content).with { $0.hold = hold }
        let server = try FaultServer(
            script: .init { request in
                request["Range"] == nil
                    ? file.answer(to: request)
                    : [.head("403 Forbidden", [("Content-Length", "0")])]
            }
        )
        defer { server.stop() }
        try await withTemporaryFolder { folder in
            #expect(try await refusals(in: folder, server, hold) == 3)
            #expect(try await refusals(in: folder, server, hold) == 0)
            let text = try TestFile.text(of: folder + "/state/hosts.json")
            #expect(text.contains("http://127.0.0.1:\(server.port)"))
            #expect(!text.contains("/f"))
        }
    }
}
