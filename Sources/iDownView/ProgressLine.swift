// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// The live line of one download: name, bar, percent, bytes, speed, time left.
package struct ProgressLine: Sendable {
    private let summary: TaskSummary
    private let rate: UInt64
    private let step: Int

    /// Takes a task as it is now.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - rate: The smoothed speed, for the time left.
    ///   - step: Where the bar's mark stands while the whole is not known.
    package init(_ task: TaskProperties, rate: UInt64, step: Int = 0) {
        summary = TaskSummary(task)
        self.rate = rate
        self.step = step
    }

    /// The line for a terminal: at most `width` cells, without its end.
    package func text(width: Int, style: Style) -> String {
        let ink = Style.Ink(summary.task.state)
        let tail = tail(isAligned: true)
        let nameWidth = max(0, min(summary.name.width, width / 3))
        let barWidth = min(Self.longestBar, width - nameWidth - tail.width - 2)
        guard barWidth >= Self.shortestBar else {
            return style.paint(tail.cut(to: max(0, width)).description, ink)
        }
        let bar = ProgressBar(fraction: summary.fraction, width: barWidth, step: step)
        let name = summary.name.cut(to: nameWidth).description
        return "\(name) \(style.paint(bar.text, ink)) \(tail)"
    }

    /// The line for a pipe: no bar, nothing cut.
    package var plainText: String {
        "\(summary.name) \(tail(isAligned: false))"
    }

    private static let shortestBar = 8
    private static let longestBar = 42

    /// What stands behind the bar.
    ///
    /// Aligned, each part has a column of its own, so that the bar
    /// does not change its length with every digit.
    private func tail(isAligned: Bool) -> CellText {
        let task = summary.task
        switch task.state {
        case .downloading:
            func column(_ text: String, _ cells: Int) -> String {
                isAligned ? CellText(text).paddedLeft(to: cells) : text
            }
            let total = task.knownTotal.map { " / \(ByteCount($0))" } ?? ""
            let parts = [
                percent,
                column(ByteCount(task.downloadedBytes).description, Self.byteCells) + total,
                column(summary.speed, Self.byteCells + 2),
                column(summary.timeLeft(bytesPerSecond: rate), Self.timeCells),
            ]
            return CellText(parts.filter { !$0.isEmpty }.joined(separator: "  "))
        case .failed, .waiting:
            let parts = [task.state.rawValue, summary.reason.description]
            return CellText(parts.filter { !$0.isEmpty }.joined(separator: ": "))
        case .completed:
            return CellText("\(percent)  \(summary.bytes)")
        default:
            return CellText("\(task.state)  \(summary.bytes)")
        }
    }

    /// As wide as the widest of their kind: `1023.9 KiB` and `59m59s`.
    private static let byteCells = 10
    private static let timeCells = 6

    private var percent: String {
        guard summary.fraction != nil else { return "" }
        return CellText(summary.percent).paddedLeft(to: 4)
    }
}
