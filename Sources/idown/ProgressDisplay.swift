// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import iDownBus
import iDownView

/// Shows the progress of downloads: live lines on a terminal, a few plain lines elsewhere.
struct ProgressDisplay {
    private let terminal: Terminal
    private let style: Style
    private let isQuiet: Bool
    private let start = ContinuousClock.now
    private var bars: ProgressBars
    private var lines = LiveLines()
    /// The last progress that was printed as a plain line, by ID.
    private var lastPlain: [String: PlainProgress] = [:]
    private var pace: DrawingPace

    init(_ terminal: Terminal, style: Style, count: Int, isQuiet: Bool) {
        self.terminal = terminal
        self.style = style
        self.isQuiet = isQuiet
        bars = ProgressBars(count: count)
        Self.noticeStops()
        pace = DrawingPace(count: count)
    }

    /// Shows a change of a download; nil for one that is no longer in the list.
    mutating func show(_ id: String, _ task: TaskProperties?) {
        guard !isQuiet else { return }
        if let task { return show(task) }
        bars.remove(id)
        // Without a terminal the command's final message tells about the removal.
        if terminal.canMove, pace.isDue(afterRemovalOf: id, at: time) { draw() }
    }

    /// Seconds since the beginning.
    private var time: Double { (ContinuousClock.now - start) / .seconds(1) }

    /// Whether a change that must be shown was skipped; ``drawAgain()`` draws it.
    var isOwed: Bool { pace.isOwed }

    /// Draws the changes that came too fast after the last drawing.
    mutating func drawAgain() {
        if pace.isOwed(at: time) { draw() }
    }

    private mutating func show(_ task: TaskProperties) {
        let time = time
        bars.update(task, at: time)
        guard terminal.canMove else { return showPlain(task, at: time) }
        if pace.isDue(task, at: time) { draw() }
    }

    /// Draws a last time, and leaves the lines on the terminal.
    mutating func end() {
        let isOwed = pace.isOwed(at: time)
        guard !lines.isEmpty || isOwed else { return }
        draw()
        Output.draw(lines.end())
    }

    /// 1 from Ctrl-Z on, 2 once the process continues, and 0 after the next drawing.
    ///
    /// The shell has written below the lines meanwhile, so that they must not be redrawn.
    private static let stop = Atomic(0)

    /// Records a stop before it happens, because other threads may draw before the handler of
    /// SIGCONT runs.
    private static func noticeStops() {
        stop.store(0, ordering: .relaxed)
        var action = sigaction()
        // An ignored signal stays ignored.
        guard sigaction(SIGTSTP, nil, &action) == 0, action.__sigaction_handler.sa_handler == nil
        else { return }
        signal(SIGTSTP, suspend)
        signal(SIGCONT) { _ in
            ProgressDisplay.stop.store(2, ordering: .relaxed)
            signal(SIGTSTP, ProgressDisplay.suspend)
        }
    }

    /// Stops the process as the default action does, which the second signal brings: signal(7).
    private static let suspend: @convention(c) (CInt) -> Void = { number in
        ProgressDisplay.stop.store(1, ordering: .relaxed)
        signal(number, SIG_DFL)
        raise(number)
    }

    private mutating func draw() {
        if Self.stop.load(ordering: .relaxed) > 0 {
            lines = LiveLines()
            _ = Self.stop.compareExchange(expected: 2, desired: 0, ordering: .relaxed)
        }
        let frame = bars.frame(
            // The last cell stays free, because some terminals wrap a line that fills it.
            width: (terminal.width ?? 80) - 1,
            height: (terminal.height ?? 24) - 1,
            style: style
        )
        guard terminal.isInBackground else {
            return Output.draw(lines.update(lasting: frame.lasting, live: frame.live))
        }
        // The user may be typing at the shell, so the lines above are not redrawn.
        lines = LiveLines()
        Output.draw(lines.update(lasting: frame.lasting, live: []))
    }

    /// Prints a line per change of state and per 10 percent, so that a log stays short.
    private mutating func showPlain(_ task: TaskProperties, at time: Double) {
        let progress = PlainProgress(task)
        // The command's final message tells what failed.
        guard progress != lastPlain[task.id], task.state != .failed else { return }
        lastPlain[task.id] = progress
        Output.talk(ProgressLine(task, rate: bars.rate(of: task.id)).plainText)
    }

    /// The progress of a task; a plain line is printed when it changes.
    private struct PlainProgress: Equatable {
        let state: TaskProperties.State
        /// Tenths of the file, rounded down; nil while its size is unknown.
        let tenth: Int?

        init(_ task: TaskProperties) {
            state = task.state
            tenth = TaskSummary(task).fraction.map { Int($0 * 10) }
        }
    }
}
