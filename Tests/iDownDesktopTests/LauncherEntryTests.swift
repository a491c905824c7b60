// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownState
import iDownTesting

@testable import iDownDesktop

@Suite(.timeLimit(.minutes(2))) struct LauncherEntryTests {
    @Test func `progress counts the tasks of known size`() {
        let look = LauncherEntry.Content([
            .sample("1", .downloading, bytes: 30, total: 100),
            .sample("2", .downloading, bytes: 0, total: 100),
            .sample("3", .downloading, bytes: 7),
        ])
        #expect(look.count == 3)
        #expect(look.percent == 15)
    }

    @Test(arguments: [(0, 0), (.max, .max), (5, 0), (.max, 1)] as [(Int64, Int64)])
    func `extreme sizes do not trap`(bytes: Int64, total: Int64) {
        let look = LauncherEntry.Content([.sample("1", .downloading, bytes: bytes, total: total)])
        #expect((0...100).contains(look.percent ?? 0))
    }

    @Test func `the launcher gets progress, changes only, and the end`() async throws {
        try await withDesktop { scene in
            try await scene.ready()
            let log = try await SignalLog(
                MatchRule(interface: LauncherEntry.update.interface, member: "Update"),
                on: scene.connection
            )
            scene.feed.changed(.sample("1", .downloading, bytes: 25, total: 100))
            let first = try await log.first("progress") { signal in
                "\(signal.arguments)".contains("0.25")
            }
            #expect(first.arguments.first == .string("application://org.idown.Manager1.desktop"))
            let shown = try [String: Value](busValue: try #require(first.arguments.last))
            #expect(shown["progress"] == .double(0.25))
            #expect(shown["progress-visible"] == .boolean(true))
            #expect(shown["count"] == .int64(1))
            #expect(shown["count-visible"] == .boolean(true))
            // A change below one percent is not sent.
            scene.feed.changed(.sample("1", .downloading, bytes: 25, total: 100))
            scene.feed.changed(.sample("1", .completed))
            let mark = log.count
            let end = try await log.first(after: mark, "the end") { _ in true }
            let hidden = try [String: Value](busValue: try #require(end.arguments.last))
            #expect(hidden["progress-visible"] == .boolean(false))
            #expect(hidden["count-visible"] == .boolean(false))
        }
    }
}
