// SPDX-License-Identifier: Apache-2.0

import DBus
import Foundation
import Testing

@testable import iDownBus
@testable import iDownView

/// What `idown follow` tells of the news of the list.
@Suite struct EventLogTests {
    private func task(
        _ id: String,
        _ serial: UInt64,
        _ state: TaskProperties.State = .waiting
    ) -> TaskProperties {
        var task = TaskProperties()
        (task.id, task.serial, task.state) = (id, serial, state)
        return task
    }

    private func changed(
        _ id: String,
        _ serial: UInt64,
        _ state: TaskProperties.State = .waiting
    ) -> ListNews {
        .changed([id], state, ["Serial": .uint64(serial)])
    }

    /// What is told, in short: `listed 1`, `changed 2 failed`, `service true`.
    private func tell(_ log: inout EventLog, _ news: ListNews...) throws -> [String] {
        try shorten(news.flatMap { log.take($0) })
    }

    private func shorten(_ lines: [EventJSON]) throws -> [String] {
        try lines.map { line in
            let data = try JSONEncoder().encode(line)
            let object = try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
            return ["Event", "Id", "State", "Running", "Serial"].compactMap { key in
                object[key].map { key == "Running" ? "\($0 as? Bool == true)" : "\($0)" }
            }.joined(separator: " ")
        }
    }

    @Test func `signals are told as they come, and a page tells what they did not`() throws {
        var log = EventLog()
        #expect(try tell(&log, changed("1", 5), .added([task("2", 6)])).count == 2)
        // Signals were lost: the page holds what was told, too.
        let page = ListNews.page([task("1", 5), task("2", 8), task("3", 9)])
        #expect(
            try tell(&log, page, .removed(["4"]), .whole(9)) == [
                "listed 2", "listed 3", "removed 4",
            ]
        )
        // Late signals tell nothing older, and no removal twice.
        #expect(try tell(&log, changed("2", 7), changed("4", 10), .removed(["4"])) == [])
        #expect(try tell(&log, changed("2", 8, .paused)) == ["changed 2 paused"])
    }

    @Test func `many that were added are told as added`() throws {
        var log = EventLog()
        let news = try tell(&log, .page([]), .added([task("1", 3), task("2", 3)]), .whole(3))
        #expect(news == ["added 1", "added 2"])
        #expect(try tell(&log, .added([task("1", 3)])) == [])
    }

    @Test func `tasks with IDs are told until their ends, which a restart may hide`() throws {
        var log = EventLog(of: ["1", "2", "3"])
        _ = log.begin([task("1", 1), task("2", 2), task("3", 3, .failed)])
        #expect(!log.isComplete)
        #expect(
            try tell(&log, changed("9", 4), changed("1", 5, .downloading)) == [
                "changed 1 downloading"
            ]
        )
        #expect(try tell(&log, .left, .left, .came) == ["service false", "service true"])
        let page = ListNews.page([task("1", 7, .waiting), task("2", 8, .completed)])
        #expect(try tell(&log, page, .whole(8)) == ["changed 2 completed"])
        #expect(try tell(&log, changed("1", 9, .cancelled)) == ["changed 1 cancelled"])
        #expect(log.isComplete)
    }

    @Test func `another list tells all that it has, and what it does not have is removed`() throws {
        var log = EventLog()
        _ = log.begin([task("1", 10), task("2", 11)])
        let page = ListNews.page([task("1", 4)])
        #expect(try tell(&log, .anew, page, .whole(12)) == ["listed 1", "removed 2"])
        var one = EventLog(of: ["2"])
        _ = one.begin([task("2", 11)])
        #expect(try tell(&one, .anew, page, .whole(12)) == ["removed 2"])
        #expect(one.isComplete)
    }

    @Test func `what has changed since a serial comes first, with the serial to go on from`() throws
    {
        var log = EventLog()
        let changes = ListChanges(serial: 9, tasks: [task("1", 8)], removed: ["2"])
        #expect(try shorten(log.begin(changes, of: "a1")) == ["listed 1", "removed 2", "whole 9"])
        // What was told already, heard once more.
        #expect(try tell(&log, changed("1", 7), .removed(["2"])) == [])
    }
}
