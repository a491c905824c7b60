// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus
import iDownView

@Suite struct TaskDetailsTests {
    private func lines(_ task: TaskProperties) -> [String] {
        TaskDetails(task, style: .plain) { "at \($0)" }.lines
    }

    @Test func `a running download tells how it goes`() {
        #expect(
            lines(.running) == [
                "ID:           7",
                "Name:         disk.iso",
                "State:        downloading (transferring)",
                "Progress:     25%",
                "Size:         50.0 MiB / 200.0 MiB",
                "Speed:        2.0 MiB/s",
                "Time left:    1m15s",
                "URL:          https://example.org/disk.iso?key=1",
                "Folder:       /home/me/Downloads",
                "Resumable:    yes",
                "Connections:  1",
            ]
        )
    }

    @Test func `a ceiling of its own stands beside the connections that are open`() {
        var task = TaskProperties.running
        task.maxConnections = 4
        #expect(lines(task).contains("Connections:  1, at most 4"))
        task.connections = 0
        #expect(lines(task).contains("Connections:  at most 4"))
    }

    @Test func `a failed download tells why`() {
        #expect(
            lines(.broken).contains("Error:  Server.NotFound: the server answered HTTP 404")
        )
    }

    @Test func `a waiting download tells what it waits for`() {
        var task = TaskProperties.broken
        task.state = .waiting
        task.hold = .retry
        task.retryAt = 42
        #expect(lines(task).contains("State:         waiting (retry)"))
        #expect(lines(task).contains("Next attempt:  at 42"))
    }

    @Test func `in a box a long fact goes on below its beginning`() {
        var task = TaskProperties.running
        task.path = "/home/me/a folder with a name/disk.iso"
        task.url = "https://example.org/" + String(repeating: "x", count: 30)
        let lines = TaskDetails(task, style: .plain, room: .box(width: 40)) { "at \($0)" }.lines
        #expect(lines.allSatisfy { $0.count <= 40 }, "\(lines)")
        let blanks = String(repeating: " ", count: 14)
        for long in [
            ["URL:          https://example.org/xxxxxx", "\(blanks)xxxxxxxxxxxxxxxxxxxxxxxx"],
            ["File:         /home/me/a folder with a", "\(blanks)name/disk.iso"],
        ] {
            #expect(lines.contains(long), "\(lines)")
        }
    }

    @Test func `on a terminal a picture tells which parts are on disk`() {
        var task = TaskProperties.running
        func lines(_ room: TaskDetails.Room) -> [String] {
            TaskDetails(task, style: .plain, room: room) { _ in "" }.lines
        }
        #expect(!lines(.box(width: 34)).joined().contains("On disk"))
        task.segments = [Structure(0, 25 << 20), Structure(100 << 20, 25 << 20)]
        #expect(lines(.box(width: 34)).contains("On disk:      ██▒·······██▒·······"))
        #expect(lines(.terminal(width: 22)).contains("On disk:      █···█···"))
        // A URL on a terminal can be selected in one piece.
        #expect(lines(.terminal(width: 22)).contains { $0.contains("disk.iso?key=1") })
        #expect(!lines(.unlimited).joined().contains("On disk"))
        task.totalBytes = -1
        #expect(!lines(.box(width: 34)).joined().contains("On disk"))
        task = .finished
        task.segments = [Structure(0, 1536)]
        #expect(!lines(.box(width: 34)).joined().contains("On disk"))
    }

    @Test func `what is not known has no line`() {
        // No server has told a size, or whether the download can be resumed.
        #expect(lines(TaskProperties()) == ["State:  waiting"])
    }

    @Test func `what was given with a download has a line each`() {
        var task = TaskProperties()
        task.url = "https://example.org/a"
        task.mirrors = ["https://one.example/a", "https://two.example/a"]
        (task.userAgent, task.headerNames) = ("me/1", ["X-Key", "Cookie"])
        (task.retryFor, task.expectedSize) = (0, 1024)
        (task.onExisting, task.whenDone, task.addedBy) = ("fail", "reveal", "browser")
        #expect(
            lines(task) == [
                "State:             waiting",
                "Tries for:         forever",
                "URL:               https://example.org/a",
                "Mirror:            https://one.example/a",
                "Mirror:            https://two.example/a",
                "User agent:        me/1",
                "Headers:           X-Key, Cookie",
                "If name is taken:  fail",
                "When done:         show in folder",
                "Expected size:     1.0 KiB",
                "Added by:          browser",
            ]
        )
    }
}
