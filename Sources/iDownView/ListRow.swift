// SPDX-License-Identifier: Apache-2.0

import iDownBus

/// A row of the live list: sign, name, source, bar, bytes, speed, time left.
struct ListRow {
    private let width: Int
    private let isEditing: Bool
    private let nameColumn: Int
    private let nameWidth: Int
    private let sourceColumn: Int?
    private let barColumn: Int
    private let barWidth: Int
    private let bytesColumn: Int?
    private let speedColumn: Int?
    private let leftColumn: Int?

    /// Lays the columns out; those that leave no room for a readable name are left out.
    init(width: Int, isEditing: Bool) {
        self.width = width
        self.isEditing = isEditing
        nameColumn = isEditing ? 7 : 3
        barWidth = width >= 120 ? 24 : width >= 60 ? 13 : 9
        // From the right; one cell stays free at the end.
        var right = width - 1
        func take(_ cells: Int, from least: Int) -> Int? {
            guard width >= least else { return nil }
            right -= cells
            defer { right -= 1 }
            return right
        }
        leftColumn = take(Self.leftWidth, from: 70)
        speedColumn = take(Self.speedWidth, from: 50)
        bytesColumn = take(Self.bytesWidth, from: 80)
        right -= barWidth
        barColumn = max(nameColumn + 1, right)
        right = barColumn - 2
        let room = max(1, right - nameColumn)
        if width >= 120 {
            // A third for the source.
            let source = max(16, room / 3)
            sourceColumn = right - source
            nameWidth = room - source - 2
        } else {
            sourceColumn = nil
            nameWidth = room
        }
    }

    /// Cells for the widest texts of each column: `59m59s`, `1023.9 MiB/s` and
    /// `1023.9 MiB / 1.0 GiB`; longer numbers of bytes lose their decimals.
    private static let leftWidth = 6
    private static let speedWidth = 12
    private static let bytesWidth = 20

    func putHeading(line: Int, into frame: inout ScreenFrame) {
        frame.put(CellText("NAME"), line: line, column: nameColumn, ink: .dim, width: nameWidth)
        if let sourceColumn {
            frame.put(CellText("SOURCE"), line: line, column: sourceColumn, ink: .dim)
        }
        frame.put(CellText("PROGRESS"), line: line, column: barColumn, ink: .dim)
        for (title, column, cells) in [
            ("BYTES", bytesColumn, Self.bytesWidth),
            ("SPEED", speedColumn, Self.speedWidth),
            ("LEFT", leftColumn, Self.leftWidth),
        ] {
            guard let column else { continue }
            let text = CellText(CellText(title).paddedLeft(to: cells))
            frame.put(text, line: line, column: column, ink: .dim)
        }
    }

    func put(
        _ task: TaskProperties,
        line: Int,
        hasCursor: Bool,
        isChosen: Bool,
        into frame: inout ScreenFrame
    ) {
        let summary = TaskSummary(task)
        if hasCursor {
            // The whole line, so that the eye finds it.
            let bar = CellText(String(repeating: " ", count: width))
            frame.put(bar, line: line, column: 0, isReversed: true)
        }
        func put(_ text: CellText, _ column: Int, _ cells: Int, _ ink: Style.Ink) {
            // Reversed, each ink would be a background of its own: the cursor's row has only one.
            frame.put(
                text,
                line: line,
                column: column,
                ink: hasCursor ? .plain : ink,
                isReversed: hasCursor,
                width: cells
            )
        }
        func putRight(_ text: String, _ column: Int?, _ cells: Int, _ ink: Style.Ink) {
            guard let column, !text.isEmpty else { return }
            let text = CellText(text).cut(to: cells)
            put(text, column + cells - text.width, text.width, ink)
        }
        let ink = Style.Ink(task.state)
        if isEditing { put(CellText(isChosen ? "[x]" : "[ ]"), 1, 3, .bold) }
        put(CellText(Self.sign(of: task.state)), nameColumn - 2, 1, ink)
        put(summary.shortName, nameColumn, nameWidth, isChosen ? .bold : .plain)
        if let sourceColumn {
            put(CellText(summary.source), sourceColumn, barColumn - sourceColumn - 2, .dim)
        }
        switch task.state {
        case .failed, .waiting:
            // The reason says more than numbers that do not change.
            let words = task.state == .failed ? summary.shortReason : Self.waiting(summary)
            put(words, barColumn, width - 1 - barColumn, ink)
        case .completed, .cancelled:
            put(CellText(task.state.rawValue), barColumn, barWidth, ink)
            putRight(Self.bytes(summary), bytesColumn, Self.bytesWidth, .plain)
        case .paused where summary.fraction == nil:
            put(CellText("paused"), barColumn, barWidth, ink)
        default:
            let bar = ProgressBar(
                fraction: summary.fraction,
                width: barWidth - 5,
                step: Int(truncatingIfNeeded: task.downloadedBytes >> 18)
            )
            put(CellText(bar.text), barColumn, barWidth - 5, ink)
            putRight(summary.percent, barColumn + barWidth - 4, 4, ink)
            putRight(Self.bytes(summary), bytesColumn, Self.bytesWidth, .plain)
            let speed = task.state == .paused ? "paused" : summary.speed
            putRight(
                task.activity == .transferring || task.state == .paused
                    ? speed : task.activity.rawValue,
                speedColumn,
                Self.speedWidth,
                ink
            )
            putRight(
                summary.timeLeft(bytesPerSecond: task.speed),
                leftColumn,
                Self.leftWidth,
                .plain
            )
        }
    }

    /// Returns a sign for a state, which also tells without colours.
    static func sign(of state: TaskProperties.State) -> String {
        switch state {
        case .downloading: "↓"
        case .waiting: "·"
        case .paused: "="
        case .completed: "✓"
        case .failed: "✗"
        case .cancelled: "-"
        default: "?"
        }
    }

    /// Returns both numbers, with one unit if they share it, and without decimals if there is no room
    /// for them.
    private static func bytes(_ summary: TaskSummary) -> String {
        let text = summary.bytes
        guard !text.isEmpty else { return "-" }
        var parts = text.split(separator: " ").map(String.init)
        // `50.0 MiB / 200.0 MiB`
        guard parts.count == 5 else { return text }
        guard parts[1] != parts[4] else { return "\(parts[0]) / \(parts[3]) \(parts[4])" }
        for place in [3, 0] where parts.joined(separator: " ").count > bytesWidth {
            guard let sign = parts[place].firstRange(of: ByteCount.decimalSign) else { continue }
            parts[place] = String(parts[place][..<sign.lowerBound])
        }
        return parts.joined(separator: " ")
    }

    private static func waiting(_ summary: TaskSummary) -> CellText {
        let reason = summary.reason.description
        return CellText(reason.isEmpty ? "waiting" : reason)
    }
}
