// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// The live lines of several downloads: those that have ended scroll away, those that run stand
/// below, and where there are more than fit a last line counts the rest.
package struct ProgressBars: Sendable {
    private struct Row {
        var task: TaskProperties
        var average = RateAverage()
        var step = 0
    }

    /// Downloads that are expected, or seen where those are more: a metalink adds some.
    private var count: Int
    private var seen = 0
    private var rows: [String: Row] = [:]
    private var order: [String] = []
    private var ended: [String] = []
    private var told = 0

    /// Takes how many downloads there will be.
    package init(count: Int) {
        self.count = count
    }

    /// Takes a task as it is now; the time is in seconds on a clock that only goes forward.
    package mutating func update(_ task: TaskProperties, at time: Double) {
        if rows[task.id] == nil {
            order.append(task.id)
            see()
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

    /// A task was taken off the list: its line goes, and it counts as one that has ended; what has
    /// ended before keeps its line.
    package mutating func remove(_ id: String) {
        if let row = rows[id], row.task.hasEnded { return }
        if rows[id] == nil { see() }
        rows[id] = nil
        order.removeAll { $0 == id }
        ended.append(id)
    }

    private mutating func see() {
        seen += 1
        count = max(count, seen)
    }

    /// The smoothed speed of a task, in bytes per second.
    package func rate(of id: String) -> UInt64 {
        rows[id]?.average.bytesPerSecond ?? 0
    }

    /// The lines to draw: `lasting` ones, each told once, and the `live` ones below.
    ///
    /// - Parameters:
    ///   - width: Cells a line, at most.
    ///   - height: Lines that the live ones may take.
    ///   - style: Colours, if any.
    /// - Returns: The lines, none of them wider than asked for.
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
        // A single download keeps its one line, ended or not.
        guard count > 1 else { return ([], order.prefix(1).compactMap(line)) }
        let lasting = ended[told...].compactMap(line)
        told = ended.count
        let open = order.filter { rows[$0]?.task.hasEnded == false }
        // What moves is looked at first.
        let sorted =
            open.filter { rows[$0]?.task.state == .downloading }
            + open.filter { rows[$0]?.task.state != .downloading }
        let room = max(1, min(height, Self.mostLines) - 1)
        var live = sorted.prefix(room).compactMap(line)
        live.append(total(open, shown: min(room, open.count), width: width))
        return (lasting, live)
    }

    /// More bars than this nobody reads.
    private static let mostLines = 16

    private func total(_ open: [String], shown: Int, width: Int) -> String {
        let speed = open.reduce(UInt64(0)) { sum, id in
            guard let task = rows[id]?.task, task.state == .downloading else { return sum }
            return sum &+ task.speed
        }
        var parts = ["\(ended.count) of \(count) done"]
        if speed > 0 { parts.append(ByteRate(speed).description) }
        if open.count > shown { parts.append("\(open.count - shown) more") }
        return CellText(parts.joined(separator: ", ")).cut(to: max(0, width)).description
    }
}
