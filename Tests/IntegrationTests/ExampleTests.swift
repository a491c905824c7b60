// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus
import iDownTesting

/// The example in the documentation of `ManagerClient`, line by line.
@Suite(.timeLimit(.minutes(1)))
struct ExampleTests {
    @Test func `the documented example follows a download to its end`() async throws {
        let content = TestContent(seed: 71, count: 100_000)
        let host = try ChangingHost(ServedFile(content))
        defer { host.stop() }
        try await withService { service in
            let manager = try await ManagerClient.connect(to: .address(service.bus.address))
            let news = try await manager.newsFromNow()
            let id = try await manager.addURL(host.url("/image.iso"))
            var printed: [String] = []
            follow: for try await one in news {
                switch one {
                case .added(let tasks):
                    for task in tasks where task.id == id { printed.append("added: \(task.url)") }
                case .changed([id], let state, let changed):
                    printed.append("\(state) \(changed["DownloadedBytes"] ?? .string(""))")
                    if state == .completed || state == .failed { break follow }
                case .removed([id]):
                    break follow
                default: break
                }
            }
            let path = try await manager.getTask(id).path
            await manager.close()
            #expect(printed.first == "added: \(host.url("/image.iso"))")
            #expect(printed.last?.hasPrefix("completed") == true, "\(printed)")
            #expect(try content.firstDifference(fromFile: path) == nil)
        }
    }
}
