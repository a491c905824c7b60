// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownView

@Suite struct ProgressLineTests {
    private func text(_ task: TaskProperties, _ width: Int, step: Int = 0) -> String {
        ProgressLine(task, rate: 2 << 20, step: step).text(width: width, style: .plain)
    }

    @Test func `the line has name, bar, percent, bytes, speed and time left`() {
        #expect(
            text(.running, 79)
                == "disk.iso [===>             ]"
                + "  25%    50.0 MiB / 200.0 MiB     2.0 MiB/s   1m15s"
        )
    }

    @Test func `the bar keeps its length while the numbers change`() {
        var task = TaskProperties.running
        let lengths = ([0, 5, 1023, 1024, 1_048_525, 50 << 20, 199 << 20] as [UInt64]).map {
            bytes in
            task.downloadedBytes = bytes
            task.speed = bytes
            return text(task, 100).split(separator: "]").first?.count
        }
        #expect(Set(lengths).count == 1)
    }

    @Test func `the time left follows the smoothed speed`() {
        let line = ProgressLine(.running, rate: 1 << 20)
        #expect(line.plainText.hasSuffix("2.0 MiB/s  2m30s"))
    }

    @Test func `no line is wider than its terminal`() {
        var wide = TaskProperties.running
        wide.fileName = String(repeating: "日本語", count: 40)
        for task in [wide, .running, .finished, .broken] {
            for width in 0...200 {
                #expect(CellText(text(task, width)).width <= width, "\(width)")
            }
        }
    }

    @Test func `emoji of several parts are simplified for a terminal, and kept for a pipe`() {
        var task = TaskProperties.running
        task.fileName = "\u{1F44D}\u{1F3FD}"
        #expect(text(task, 79).hasPrefix("\u{1F44D} ["))
        #expect(ProgressLine(task, rate: 0).plainText.hasPrefix(task.fileName))
        let table = TaskTable([task], width: 80, style: .plain)
        #expect(table.lines.last?.hasSuffix(" \u{1F44D}") == true)
        let piped = TaskTable([task], width: nil, style: .plain)
        #expect(piped.lines.last?.hasSuffix(task.fileName) == true)
    }

    @Test func `a long name keeps its beginning at any width, and leaves room for the rest`() {
        var task = TaskProperties.running
        task.fileName = "a-name-that-is-longer-than-most.tar.gz"
        #expect(
            text(task, 79)
                == "a-name-that-is-lon… [>     ]  25%    50.0 MiB / 200.0 MiB     2.0 MiB/s   1m15s"
        )
        #expect(
            text(task, 64)
                == "a-name-that-…  25%    50.0 MiB / 200.0 MiB     2.0 MiB/s   1m15s"
        )
        #expect(text(task, 39) == "a-name-that-is-long…  25%     2.0 MiB/s")
        #expect(text(task, 19) == "a-name-that-i…  25%")
        #expect(text(task, 9) == "a-n…  25%")
        for task in [task, .finished, .broken] {
            for width in 6...200 {
                let line = text(task, width)
                let name = TaskSummary(task).shortName.description.prefix(1)
                #expect(line.hasPrefix(name) || line.hasPrefix(task.url), "\(width): \(line)")
            }
        }
    }

    @Test func `a URL that does not fit is replaced by its last part`() {
        #expect(text(.broken, 60).hasPrefix("gone "))
        #expect(
            text(.broken, 60).hasSuffix("failed: Server.NotFound: the server answered HTTP 404")
        )
        #expect(text(.broken, 40).hasPrefix("gone failed: Server.NotFound"))
    }

    @Test func `a URL in place of a name shows no secret`() {
        var task = TaskProperties.broken
        task.url = "https://me:geheim@example.org/?token=geheim#geheim"
        #expect(ProgressLine(task, rate: 0).plainText.hasPrefix("https://example.org/ failed"))
        for width in 0...200 {
            #expect(!text(task, width).contains("geheim"), "\(width)")
        }
    }

    @Test func `without a size the bar has a moving mark and there is no percentage`() {
        var task = TaskProperties.running
        task.totalBytes = -1
        #expect(
            text(task, 60, step: 3)
                == "disk.iso [   <=>          ]   50.0 MiB     2.0 MiB/s        "
        )
    }

    @Test func `a completed download shows its size`() {
        #expect(ProgressLine(.finished, rate: 0).plainText == "日本語.zip 100%  1.5 KiB")
    }

    @Test func `a failed download shows its reason`() {
        #expect(
            ProgressLine(.broken, rate: 0).plainText
                == "https://example.org/gone failed: Server.NotFound: the server answered HTTP 404"
        )
    }

    @Test func `the bar has the color of the state`() {
        let line = ProgressLine(.running, rate: 1).text(
            width: 79,
            style: Style(isColored: true)
        )
        #expect(line.hasPrefix("disk.iso \u{1B}[32m["))
    }
}
