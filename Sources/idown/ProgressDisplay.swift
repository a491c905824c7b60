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

    /// Whether the process is about to stop or has stopped, so that nothing may be drawn, or goes
    /// on: the shell has written below the lines meanwhile, so that they must not be redrawn.
    private enum Stop {
        static let none = 0
        static let begins = 1
        static let isOver = 2
        static let present = Atomic(none)
    }

    private static func noticeStops() {
        Stop.present.store(Stop.none, ordering: .relaxed)
        var action = sigaction()
        // An ignored signal stays ignored.
        guard sigaction(SIGTSTP, nil, &action) == 0, action.__sigaction_handler.sa_handler == nil
        else { return }
        signal(SIGTSTP, suspend)
        signal(SIGCONT, goOn)
    }

    private static let goOn: @convention(c) (CInt) -> Void = { _ in
        Stop.present.store(Stop.isOver, ordering: .relaxed)
    }

    /// Stops the process as the default action does: signal(7).
    ///
    /// The second signal stops the process before `raise` returns, or is discarded, because no shell
    /// could continue the process. Until then no other thread draws. SIGCONT has no handler
    /// meanwhile, which might run only after the next drawing.
    private static let suspend: @convention(c) (CInt) -> Void = { number in
        Stop.present.store(Stop.begins, ordering: .relaxed)
        signal(SIGCONT, SIG_DFL)
        signal(number, SIG_DFL)
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, number)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(number)
        Stop.present.store(Stop.isOver, ordering: .relaxed)
        signal(number, ProgressDisplay.suspend)
        signal(SIGCONT, ProgressDisplay.goOn)
    }

    private mutating func draw() {
        var start = ""
        switch Stop.present.load(ordering: .relaxed) {
        case Stop.begins: return
        case Stop.isOver:
            lines = LiveLines()
            // Where the stop was discarded, the cursor is behind the last line.
            start = "\r"
            _ = Stop.present.compareExchange(
                expected: Stop.isOver,
                desired: Stop.none,
                ordering: .relaxed
            )
        default: break
        }
        let frame = bars.frame(
            // The last cell stays free, because some terminals wrap a line that fills it.
            width: (terminal.width ?? 80) - 1,
            height: (terminal.height ?? 24) - 1,
            style: style
        )
        guard terminal.isInBackground else {
            return Output.draw(start + lines.update(lasting: frame.lasting, live: frame.live))
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
