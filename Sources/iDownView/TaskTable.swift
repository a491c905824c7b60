// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// The list of tasks in columns: ID STATE PROGRESS SIZE SPEED LEFT NAME, and WHY if a task failed
/// or waits.
package struct TaskTable: Sendable {
    /// The lines without line feeds; the first one holds the titles of the columns.
    package let lines: [String]

    /// Creates the lines of a list.
    ///
    /// - Parameters:
    ///   - tasks: The tasks, in the order of the lines.
    ///   - width: Maximum number of cells per line, or nil for a pipe, where nothing is cut.
    ///     Columns that do not fit beside a readable name and a readable reason are left out, and
    ///     names and reasons are cut.
    ///   - style: The colors, if any.
    package init(_ tasks: [TaskProperties], width: Int?, style: Style) {
        let rows = tasks.map { Row($0, isForTerminal: width != nil) }
        var columns = Column.allCases.map { column in
            (column, rows.reduce(column.title.width) { max($0, $1[column].width) })
        }
        if rows.allSatisfy({ $0[.why].width == 0 }) { columns.removeAll { $0.0 == .why } }
        if let width {
            let kept = columns.filter { !Column.dispensable.contains($0.0) }
            // If the reasons would be unreadable anyway, their column gives way to the others.
            if Self.leastWidth(kept) > width { columns.removeAll { $0.0 == .why } }
            for dispensable in Column.dispensable where Self.leastWidth(columns) > width {
                columns.removeAll { $0.0 == dispensable }
            }
            Self.share(max(1, width - Self.leadWidth(columns)), among: &columns)
        }
        let nameWidth = width.flatMap { _ in columns.first { $0.0 == .name }?.1 }
        let layout = Layout(columns: columns, isCut: width != nil, style: style)
        let heading = layout.line(\.title) { _ in .bold }
        lines = [heading] + rows.map { row in layout.line({ row[$0, within: nameWidth] }, row.ink) }
    }

    /// The properties that the table is made from.
    package static let properties: [TaskProperty] = [
        .id, .url, .fileName, .state, .downloadedBytes, .totalBytes, .speed, .hold, .errorCode,
        .errorMessage,
    ]

    private static let gap = "  "

    /// The cells below which a cut name or a cut reason is unreadable.
    private static let readableName = 20
    private static let readableReason = 26
    /// The cells that a name keeps where a reason needs the room.
    private static let usualName = 40

    /// The width of the columns before the name, with the gaps behind them.
    private static func leadWidth(_ columns: [(Column, Int)]) -> Int {
        columns.reduce(0) { $1.0 == .name || $1.0 == .why ? $0 : $0 + $1.1 + gap.count }
    }

    /// The width below which a column must be left out.
    private static func leastWidth(_ columns: [(Column, Int)]) -> Int {
        guard let why = columns.first(where: { $0.0 == .why })?.1 else {
            return leadWidth(columns) + readableName
        }
        return leadWidth(columns) + readableName + gap.count + min(why, readableReason)
    }

    /// Divides the room: the reasons get what the names do not need, or what is more than a usual
    /// name needs, but at least a readable width.
    private static func share(_ room: Int, among columns: inout [(Column, Int)]) {
        guard let name = columns.firstIndex(where: { $0.0 == .name }) else { return }
        guard let why = columns.firstIndex(where: { $0.0 == .why }) else {
            columns[name].1 = room
            return
        }
        let left = room - min(columns[name].1, usualName) - gap.count
        columns[why].1 = min(columns[why].1, max(left, readableReason))
        columns[name].1 = max(1, room - columns[why].1 - gap.count)
    }
}

extension TaskTable {
    private enum Column: Int, CaseIterable {
        case id, state, progress, size, speed, left, name, why

        /// The columns that give way to the name and the reason, the first one first.
        static let dispensable: [Column] = [.left, .speed, .size, .progress]

        var title: CellText { CellText("\(self)".uppercased()) }

        var isNumber: Bool {
            switch self {
            case .id, .progress, .size, .speed, .left: true
            case .state, .name, .why: false
            }
        }
    }

    /// The columns that fit, with their widths.
    private struct Layout {
        let columns: [(Column, Int)]
        /// Whether the text of the last column is cut to its width.
        let isCut: Bool
        let style: Style

        func line(_ cell: (Column) -> CellText, _ ink: (Column) -> Style.Ink) -> String {
            var line = ""
            // Most lines are shorter, so that the string need not grow, which is slow.
            line.reserveCapacity(200)
            for (column, cells) in columns {
                if !line.isEmpty { line += TaskTable.gap }
                line += style.paint(text(cell(column), in: column, cells), ink(column))
            }
            while line.utf8.last == UInt8(ascii: " ") { line.removeLast() }
            return line
        }

        private func text(_ cell: CellText, in column: Column, _ cells: Int) -> String {
            if column == columns.last?.0 { return (isCut ? cell.cut(to: cells) : cell).description }
            return column.isNumber ? cell.paddedLeft(to: cells) : cell.padded(to: cells)
        }
    }

    private struct Row {
        private let state: TaskProperties.State
        /// The cells, in the order of the columns.
        private let cells: [CellText]
        /// The last part of the URL while the file has no name; otherwise nil.
        private let expectedName: CellText?

        /// A terminal gets texts on whose width all terminals agree.
        init(_ task: TaskProperties, isForTerminal: Bool) {
            func shown(_ text: CellText) -> CellText { isForTerminal ? text.simplified : text }
            let summary = TaskSummary(task)
            state = task.state
            cells = Column.allCases.map { column in
                switch column {
                case .id: CellText(task.id)
                case .state: CellText(task.state.rawValue)
                case .progress: CellText(summary.percent)
                case .size: CellText(summary.size)
                case .speed: CellText(summary.speed)
                case .left: CellText(summary.timeLeft(bytesPerSecond: task.speed))
                case .name: shown(summary.name)
                case .why: shown(summary.shortReason)
                }
            }
            expectedName = task.fileName.isEmpty ? shown(summary.shortName) : nil
        }

        /// The text of a column; a URL that does not fit into the name's column is replaced by its
        /// last part.
        subscript(column: Column, within nameWidth: Int?) -> CellText {
            let cell = self[column]
            guard column == .name, let expectedName, let nameWidth, cell.width > nameWidth else {
                return cell
            }
            return expectedName
        }

        subscript(column: Column) -> CellText { cells[column.rawValue] }

        func ink(_ column: Column) -> Style.Ink { column == .state ? Style.Ink(state) : .plain }
    }
}
