// SPDX-License-Identifier: Apache-2.0

import iDownBus
import iDownView

/// Shows how one download goes: a live line on a terminal, few plain lines elsewhere.
struct ProgressDisplay {
    private let terminal: Terminal
    private let start = ContinuousClock.now
    private var average = RateAverage()
    private var step = 0
    private var isDrawn = false
    private var lastPlain: PlainMark?

    init(_ terminal: Terminal) {
        self.terminal = terminal
    }

    mutating func show(_ task: TaskProperties) {
        if task.state == .downloading {
            average.add(task.speed, at: (ContinuousClock.now - start) / .seconds(1))
        } else {
            average.reset()
        }
        step += 1
        let line = ProgressLine(task, rate: average.bytesPerSecond, step: step)
        if terminal.canMove, let width = terminal.width {
            // The last cell stays free: some terminals break the line once it is filled.
            Output.redraw(line.text(width: width - 1, style: terminal.style))
            isDrawn = true
        } else {
            showPlain(task, line)
        }
    }

    /// Leaves the last line where it stands.
    mutating func end() {
        if isDrawn { Output.endRedrawing() }
        isDrawn = false
    }

    /// A line a state and a line every tenth, so that a log stays short.
    private mutating func showPlain(_ task: TaskProperties, _ line: ProgressLine) {
        let mark = PlainMark(task)
        guard mark != lastPlain else { return }
        lastPlain = mark
        Output.talk(line.plainText)
    }

    private struct PlainMark: Equatable {
        let state: TaskProperties.State
        let tenth: Int?

        init(_ task: TaskProperties) {
            state = task.state
            tenth = TaskSummary(task).fraction.map { Int($0 * 10) }
        }
    }
}
