// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownView

struct ProgressBarsTests {
    private func task(_ id: String, _ state: TaskProperties.State) -> TaskProperties {
        var task = TaskProperties.running
        task.id = id
        task.fileName = "file-\(id)"
        task.state = state
        return task
    }

    @Test func `a single download keeps its line after its end`() {
        var bars = ProgressBars(count: 1)
        bars.update(.running, at: 0)
        let running = bars.frame(width: 79, height: 23, style: .plain)
        #expect(running.lasting.isEmpty && running.live.count == 1)
        bars.update(task("7", .completed), at: 1)
        let ended = bars.frame(width: 79, height: 23, style: .plain)
        #expect(ended.lasting.isEmpty && ended.live.count == 1)
    }

    @Test func `with several downloads each ended one is printed once, and the last line counts`() {
        var bars = ProgressBars(count: 3)
        bars.update(task("1", .completed), at: 0)
        bars.update(task("2", .waiting), at: 0)
        bars.update(task("3", .downloading), at: 0)
        let first = bars.frame(width: 79, height: 23, style: .plain)
        #expect(first.lasting.count == 1 && first.lasting[0].hasPrefix("file-1"))
        #expect(first.live.map { String($0.prefix(6)) } == ["file-3", "file-2", "1 of 3"])
        #expect(first.live.last == "1 of 3 done, 2.0 MiB/s")
        #expect(bars.frame(width: 79, height: 23, style: .plain).lasting.isEmpty)
        let small = bars.frame(width: 79, height: 2, style: .plain)
        #expect(small.live.count == 2)
        #expect(small.live.last == "1 of 3 done, 2.0 MiB/s, 1 more")
    }

    @Test func `a download that failed or was cancelled is not done`() {
        var bars = ProgressBars(count: 3)
        bars.update(task("1", .failed), at: 0)
        bars.update(task("2", .completed), at: 0)
        bars.update(task("3", .cancelled), at: 0)
        let frame = bars.frame(width: 79, height: 23, style: .plain)
        #expect(frame.live.last == "1 of 3 done, 1 failed, 1 cancelled")
    }

    @Test func `a removed download has no bar, and counts as ended`() {
        var bars = ProgressBars(count: 4)
        bars.update(task("1", .completed), at: 0)
        bars.update(task("2", .downloading), at: 0)
        bars.update(task("3", .downloading), at: 0)
        bars.remove("2")
        // This download was removed before its first update.
        bars.remove("4")
        // This download had ended before it was removed.
        bars.remove("1")
        let frame = bars.frame(width: 79, height: 23, style: .plain)
        #expect(frame.lasting.count == 1 && frame.lasting[0].hasPrefix("file-1"))
        #expect(frame.live.count == 2 && frame.live[0].hasPrefix("file-3"))
        #expect(frame.live.last == "3 of 4 done, 2.0 MiB/s")
        var single = ProgressBars(count: 1)
        single.update(.running, at: 0)
        single.remove("7")
        #expect(single.frame(width: 79, height: 23, style: .plain).live == [])
    }

    @Test func `no line is wider than the terminal`() {
        var bars = ProgressBars(count: 20)
        for number in 1...20 { bars.update(task("\(number)", .downloading), at: 0) }
        for width in 0...120 {
            let live = bars.frame(width: width, height: 40, style: .plain).live
            #expect(live.allSatisfy { CellText($0).width <= width }, "\(width)")
            #expect(live.count <= 16)
        }
    }
}
