// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownView

@Suite struct TaskTableTests {
    private let tasks: [TaskProperties] = [.finished, .running, .broken]

    @Test func `a pipe gets uncut lines in columns`() {
        #expect(
            TaskTable(tasks, width: nil, style: .plain).lines == [
                "ID  STATE        PROGRESS       SIZE      SPEED   LEFT  NAME                      WHY",
                " 3  completed        100%    1.5 KiB                    日本語.zip",
                " 7  downloading       25%  200.0 MiB  2.0 MiB/s  1m15s  disk.iso",
                "12  failed              -          -                    https://example.org/gone"
                    + "  the server answered HTTP 404",
            ]
        )
    }

    @Test func `the table needs no properties but those it names`() {
        let some = tasks.map { TaskProperties($0.dictionary(of: TaskTable.properties)) }
        #expect(some != tasks)
        #expect(
            TaskTable(some, width: nil, style: .plain).lines
                == TaskTable(tasks, width: nil, style: .plain).lines
        )
    }

    @Test func `a terminal gets lines that fit`() {
        for width in 1...200 {
            for line in TaskTable(tasks, width: width, style: .plain).lines {
                // The two columns that are always shown need 18 cells.
                #expect(CellText(line).width <= max(width, 18), "\(width)")
            }
        }
    }

    @Test func `a narrow terminal keeps the names and gives up columns`() {
        #expect(
            TaskTable(tasks, width: 60, style: .plain).lines == [
                "ID  STATE        PROGRESS       SIZE  NAME",
                " 3  completed        100%    1.5 KiB  日本語.zip",
                " 7  downloading       25%  200.0 MiB  disk.iso",
                "12  failed              -          -  gone",
            ]
        )
    }

    @Test func `a terminal of 80 columns tells why a download failed or waits`() {
        var waiting = TaskProperties.running
        waiting.id = "13"
        waiting.state = .waiting
        waiting.hold = .queue
        waiting.fileName = "a name that is too long for its column and is cut.tar.gz"
        var long = TaskProperties.broken
        long.errorMessage = "The server answered 403 Forbidden. The link may have expired."
        #expect(
            TaskTable([waiting, long], width: 80, style: .plain).lines == [
                "ID  STATE    PROGRESS  NAME                           WHY",
                "13  waiting       25%  a name that is too long for …  waits for a free slot",
                "12  failed          -  https://example.org/gone       The server answered 403 F…",
            ]
        )
    }

    @Test func `a long name leaves its room to the reasons, and of a status its number stays`() {
        var done = TaskProperties.running
        done.state = .completed
        done.fileName = String(repeating: "n", count: 200)
        var busy = TaskProperties.broken
        busy.errorMessage = "The server answered HTTP 503 Service Unavailable. Try again later."
        let reason = "HTTP 503 Service Unavailable"
        let wide = TaskTable([done, busy], width: 120, style: .plain).lines
        #expect(wide[2].hasSuffix("  " + reason))
        #expect(wide[1].contains(String(repeating: "n", count: 39) + "…"))
        #expect(TaskTable([busy], width: 80, style: .plain).lines[1].contains("  HTTP 503 "))
    }

    @Test func `without failed or waiting downloads there is no column of reasons`() {
        let lines = TaskTable([.running], width: 80, style: .plain).lines
        #expect(!lines.joined().contains("WHY"))
    }

    @Test func `only the state is colored`() {
        let lines = TaskTable([.running], width: nil, style: Style(isColored: true)).lines
        #expect(
            lines.last
                == " 7  \u{1B}[32mdownloading\u{1B}[0m       25%  200.0 MiB  2.0 MiB/s  1m15s"
                + "  disk.iso"
        )
    }

    @Test func `a name from a server cannot control the terminal`() {
        var task = TaskProperties.running
        task.fileName = "\u{1B}]0;owned\u{7}\nx"
        task.state = .init(rawValue: "\u{1B}[2J")
        let lines = TaskTable([task], width: nil, style: .plain).lines
        #expect(lines.count == 2)
        #expect(!lines.joined().unicodeScalars.contains { $0.value < 0x20 })
    }

    @Test func `an empty list has only its heading`() {
        #expect(
            TaskTable([], width: 80, style: .plain).lines
                == ["ID  STATE  PROGRESS  SIZE  SPEED  LEFT  NAME"]
        )
    }
}
