// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// The progress line of one download: name, bar, percent, bytes, speed and time left.
package struct ProgressLine: Sendable {
    private let summary: TaskSummary
    private let rate: UInt64
    private let step: Int

    /// Creates the line for the current facts of a task.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - rate: The smoothed speed in bytes per second, for the time left.
    ///   - step: The position of the bar's mark while the size of the file is unknown.
    package init(_ task: TaskProperties, rate: UInt64, step: Int = 0) {
        summary = TaskSummary(task, hidesSecrets: true)
        self.rate = rate
        self.step = step
    }

    /// Returns the line for a terminal: at most `width` cells, without a line feed.
    ///
    /// In a narrow terminal first the bar shrinks and disappears, then the parts behind it. The
    /// name is kept as long as a cell is left for it.
    package func text(width: Int, style: Style) -> String {
        let ink = Style.Ink(summary.task.state)
        // All terminals have to agree on the width: a line that wraps cannot be drawn again.
        let whole = summary.name.simplified
        let short = summary.shortName.simplified
        let least = min(short.width, Self.readableName)
        // A URL that does not fit is replaced by its last part. If it were cut, only its server would
        // be left, which tells less.
        func name(within cells: Int) -> CellText {
            whole.width > cells ? short.cut(to: cells) : whole
        }
        for tail in tails {
            let room = width - tail.width - 1
            let besideBar = min(whole.width, width / 3, room - Self.shortestBar - 1)
            if besideBar >= least {
                let name = name(within: besideBar)
                let barWidth = min(Self.longestBar, room - name.width - 1)
                let bar = ProgressBar(fraction: summary.fraction, width: barWidth, step: step)
                return "\(name) \(style.paint(bar.text, ink)) \(tail)"
            }
            if room >= least {
                let name = name(within: room).padded(to: room)
                return "\(name) \(style.paint(tail.description, ink))"
            }
        }
        let name = name(within: max(0, min(least, width / 2)))
        let tail = (tails.last ?? CellText("")).cut(to: max(0, width - name.width - 1))
        return name.width == 0 ? "" : "\(name) \(style.paint(tail.description, ink))"
    }

    /// The line for a pipe: uncut, without a bar.
    package var plainText: String {
        "\(summary.name) \(parts(isAligned: false).joined(separator: Self.gap))"
    }

    private static let shortestBar = 8
    private static let longestBar = 42
    /// The cells that a name needs to be told from other names.
    private static let readableName = 12
    private static let gap = "  "

    /// The choices for the text behind the bar, the widest first.
    private var tails: [CellText] {
        let parts = parts(isAligned: true)
        let choices: [ArraySlice<String>] =
            switch summary.task.state {
            // In little room the percentage and the speed stay, as they tell the most.
            case .downloading:
                [
                    parts[...], parts.dropLast(),
                    parts.prefix(1) + parts.dropFirst(2).prefix(1), parts.prefix(1),
                ]
            default: [parts[...], parts.prefix(1)]
            }
        return choices.map { CellText($0.joined(separator: Self.gap)).simplified }
    }

    /// Returns the parts of the text behind the bar.
    ///
    /// If they are aligned, each part has a column of fixed width, so that the bar does not change
    /// its length with every digit.
    private func parts(isAligned: Bool) -> [String] {
        let task = summary.task
        let parts: [String]
        switch task.state {
        case .downloading:
            func column(_ text: String, _ cells: Int) -> String {
                isAligned ? CellText(text).paddedLeft(to: cells) : text
            }
            let total = task.knownTotal.map { " / \(ByteCount($0))" } ?? ""
            parts = [
                percent,
                column(ByteCount(task.downloadedBytes).description, Self.byteCells) + total,
                column(summary.speed, Self.byteCells + 2),
                column(summary.timeLeft(bytesPerSecond: rate), Self.timeCells),
            ]
        case .failed, .waiting:
            let reason = summary.reason.description
            parts = [reason.isEmpty ? task.state.rawValue : "\(task.state.rawValue): \(reason)"]
        case .completed: parts = [percent, summary.bytes]
        default: parts = [task.state.rawValue, summary.bytes]
        }
        return parts.filter { !$0.isEmpty }
    }

    /// The cells of the widest text of each kind: `1023.9 KiB` and `59m59s`.
    private static let byteCells = 10
    private static let timeCells = 6

    private var percent: String {
        guard summary.fraction != nil else { return "" }
        return CellText(summary.percent).paddedLeft(to: 4)
    }
}
