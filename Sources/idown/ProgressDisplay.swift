// SPDX-License-Identifier: Apache-2.0

import iDownBus
import iDownView

/// Shows how downloads go: a live line for each on a terminal, few plain lines elsewhere.
struct ProgressDisplay {
    private let terminal: Terminal
    private let style: Style
    private let isQuiet: Bool
    private let start = ContinuousClock.now
    private var bars: ProgressBars
    private var lines = LiveLines()
    private var lastPlain: [String: PlainMark] = [:]
    private var pace: DrawingPace

    init(_ terminal: Terminal, style: Style, count: Int, isQuiet: Bool) {
        self.terminal = terminal
        self.style = style
        self.isQuiet = isQuiet
        bars = ProgressBars(count: count)
        pace = DrawingPace(count: count)
    }

    mutating func show(_ id: String, _ standing: TaskWatch.Standing) {
        guard !isQuiet else { return }
        switch standing {
        case .task(let task): show(task)
        case .removed:
            bars.remove(id)
            pace.remove(id)
            // Elsewhere the command's last words tell it.
            if terminal.canMove { draw() }
        }
    }

    private mutating func show(_ task: TaskProperties) {
        let time = (ContinuousClock.now - start) / .seconds(1)
        bars.update(task, at: time)
        guard terminal.canMove else { return showPlain(task, at: time) }
        if pace.isDue(task, at: time) { draw() }
    }

    /// Leaves the last lines where they stand.
    mutating func end() {
        guard !lines.isEmpty else { return }
        draw()
        Output.draw(lines.end())
    }

    private mutating func draw() {
        let frame = bars.frame(
            // The last cell stays free: some terminals break the line once it is filled.
            width: (terminal.width ?? 80) - 1,
            height: (terminal.height ?? 24) - 1,
            style: style
        )
        guard terminal.isInBackground else {
            return Output.draw(lines.update(lasting: frame.lasting, live: frame.live))
        }
        // Somebody types there now: nothing above that is drawn again.
        lines = LiveLines()
        Output.draw(lines.update(lasting: frame.lasting, live: []))
    }

    /// A line a state and a line every tenth, so that a log stays short.
    private mutating func showPlain(_ task: TaskProperties, at time: Double) {
        let mark = PlainMark(task)
        // The command's last words tell what failed.
        guard mark != lastPlain[task.id], task.state != .failed else { return }
        lastPlain[task.id] = mark
        Output.talk(ProgressLine(task, rate: bars.rate(of: task.id)).plainText)
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
