// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// The progress lines of one or several downloads on a terminal.
///
/// With several, ended downloads are printed once and scroll away, unfinished ones stand below
/// them, and the last line counts the ended ones and those that do not fit.
package struct ProgressBars: Sendable {
    private struct Row {
        var task: TaskProperties
        var average = RateAverage()
        var step = 0
    }

    /// The number of downloads; it grows when more appear than expected, because a metalink adds
    /// downloads.
    private var count: Int
    /// The number of downloads that have appeared so far.
    private var seen = 0
    private var rows: [String: Row] = [:]
    /// The downloads in the order in which they appeared.
    private var order: [String] = []
    private var ended: [String] = []
    /// The number of ended downloads whose lasting line was returned.
    private var printed = 0

    /// Creates the lines for an expected number of downloads.
    package init(count: Int) { self.count = count }

    /// Takes the current facts of a task; the time is in seconds on a clock that only goes forward.
    package mutating func update(_ task: TaskProperties, at time: Double) {
        if rows[task.id] == nil {
            order.append(task.id)
            countAppearance()
        }
        var row = rows[task.id] ?? Row(task: task)
        let hadEnded = row.task.hasEnded && rows[task.id] != nil
        row.task = task
        row.step += 1
        if task.state == .downloading {
            row.average.add(task.speed, at: time)
        } else {
            row.average.reset()
        }
        rows[task.id] = row
        if task.hasEnded, !hadEnded { ended.append(task.id) }
    }

    /// Drops the line of a task that was removed from the list, and counts the task as ended.
    ///
    /// A task that ended before it was removed keeps its line.
    package mutating func remove(_ id: String) {
        if let row = rows[id], row.task.hasEnded { return }
        if rows[id] == nil { countAppearance() }
        rows[id] = nil
        order.removeAll { $0 == id }
        ended.append(id)
    }

    private mutating func countAppearance() {
        seen += 1
        count = max(count, seen)
    }

    /// Returns the smoothed speed of a task in bytes per second.
    package func rate(of id: String) -> UInt64 { rows[id]?.average.bytesPerSecond ?? 0 }

    /// Returns the lines to draw: lasting ones, each returned once, and the live ones below them.
    ///
    /// - Parameters:
    ///   - width: Maximum number of cells per line.
    ///   - height: Maximum number of live lines.
    ///   - style: The colors, if any.
    /// - Returns: The lines, none wider than `width`.
    package mutating func frame(
        width: Int,
        height: Int,
        style: Style
    ) -> (lasting: [String], live: [String]) {
        func line(_ id: String) -> String? {
            rows[id].map { row in
                ProgressLine(row.task, rate: row.average.bytesPerSecond, step: row.step)
                    .text(width: width, style: style)
            }
        }
        // A single download keeps its line after its end.
        guard count > 1 else { return ([], order.prefix(1).compactMap(line)) }
        let lasting = ended[printed...].compactMap(line)
        printed = ended.count
        let open = order.filter { rows[$0]?.task.hasEnded == false }
        // Running downloads come first, because their lines change.
        let sorted =
            open.filter { rows[$0]?.task.state == .downloading }
            + open.filter { rows[$0]?.task.state != .downloading }
        let room = max(1, min(height, Self.maximumLines) - 1)
        var live = sorted.prefix(room).compactMap(line)
        live.append(total(open, shown: min(room, open.count), width: width))
        return (lasting, live)
    }

    /// The most live lines, the counting one included; more would be unreadable.
    private static let maximumLines = 16

    private func total(_ open: [String], shown: Int, width: Int) -> String {
        let speed = open.reduce(UInt64(0)) { sum, id in
            guard let task = rows[id]?.task, task.state == .downloading else { return sum }
            return sum &+ task.speed
        }
        var done = ended.count
        var parts: [String] = []
        for state in [TaskProperties.State.failed, .cancelled] {
            let others = ended.count { rows[$0]?.task.state == state }
            if others > 0 { parts.append("\(others) \(state.rawValue)") }
            done -= others
        }
        parts.insert("\(done) of \(count) done", at: 0)
        if speed > 0 { parts.append(ByteRate(speed).description) }
        if open.count > shown { parts.append("\(open.count - shown) more") }
        return CellText(parts.joined(separator: ", ")).cut(to: max(0, width)).description
    }
}
