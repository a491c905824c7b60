// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// The list of tasks as columns: ID STATE PROGRESS SIZE SPEED LEFT NAME, and WHY where a task
/// failed or waits.
package struct TaskTable: Sendable {
    /// The lines, without their ends; the first names the columns.
    package let lines: [String]

    /// Lays a list out.
    ///
    /// - Parameters:
    ///   - tasks: The tasks, in the order of the lines.
    ///   - width: Cells that a line may take. Columns that do not fit beside a readable name and a
    ///     readable reason are left out; both are cut. Nil, for a pipe, cuts nothing.
    ///   - style: Colours, if any.
    package init(_ tasks: [TaskProperties], width: Int?, style: Style) {
        let rows = tasks.map(Row.init)
        var columns = Column.allCases.map { column in
            (column, rows.reduce(column.title.width) { max($0, $1[column].width) })
        }
        if rows.allSatisfy({ $0[.why].width == 0 }) { columns.removeAll { $0.0 == .why } }
        if let width {
            let kept = columns.filter { !Column.dispensable.contains($0.0) }
            // Where the reasons cannot be read in any case, they cost no other column its place.
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

    /// The properties that a table shows.
    package static let properties: [TaskProperty] = [
        .id, .url, .fileName, .state, .downloadedBytes, .totalBytes, .speed, .hold, .errorCode,
        .errorMessage,
    ]

    private static let gap = "  "

    /// A name or a reason that is cut shorter than this cannot be read.
    private static let readableName = 20
    private static let readableReason = 26

    private static func leadWidth(_ columns: [(Column, Int)]) -> Int {
        columns.reduce(0) { $1.0 == .name || $1.0 == .why ? $0 : $0 + $1.1 + gap.count }
    }

    /// The width below which a column is left out.
    private static func leastWidth(_ columns: [(Column, Int)]) -> Int {
        guard let why = columns.first(where: { $0.0 == .why })?.1 else {
            return leadWidth(columns) + readableName
        }
        return leadWidth(columns) + readableName + gap.count + min(why, readableReason)
    }

    /// Gives the reasons what the names leave, and at least what can be read.
    private static func share(_ room: Int, among columns: inout [(Column, Int)]) {
        guard let name = columns.firstIndex(where: { $0.0 == .name }) else { return }
        guard let why = columns.firstIndex(where: { $0.0 == .why }) else {
            columns[name].1 = room
            return
        }
        let left = room - columns[name].1 - gap.count
        columns[why].1 = min(columns[why].1, max(left, readableReason))
        columns[name].1 = max(1, room - columns[why].1 - gap.count)
    }
}

extension TaskTable {
    private enum Column: Int, CaseIterable {
        case id, state, progress, size, speed, left, name, why

        /// In the order in which they give way to the name and the reason.
        static let dispensable: [Column] = [.left, .speed, .progress, .size]

        var title: CellText { CellText("\(self)".uppercased()) }

        var isNumber: Bool {
            switch self {
            case .id, .progress, .size, .speed, .left: true
            case .state, .name, .why: false
            }
        }
    }

    /// How wide the columns are that fit.
    private struct Layout {
        let columns: [(Column, Int)]
        /// Whether the last column ends at its width.
        let isCut: Bool
        let style: Style

        func line(_ cell: (Column) -> CellText, _ ink: (Column) -> Style.Ink) -> String {
            var line = ""
            // Longer than most lines: growing a string costs more than making it.
            line.reserveCapacity(200)
            for (column, cells) in columns {
                if !line.isEmpty { line += TaskTable.gap }
                line += style.paint(text(cell(column), in: column, cells), ink(column))
            }
            while line.utf8.last == UInt8(ascii: " ") { line.removeLast() }
            return line
        }

        private func text(_ cell: CellText, in column: Column, _ cells: Int) -> String {
            if column == columns.last?.0 {
                return (isCut ? cell.cut(to: cells) : cell).description
            }
            return column.isNumber ? cell.paddedLeft(to: cells) : cell.padded(to: cells)
        }
    }

    private struct Row {
        private let state: TaskProperties.State
        private let stateCell, id, progress, size, speed, left, name, why: CellText
        /// The last part of the URL, where there is no name yet.
        private let expectedName: CellText?

        init(_ task: TaskProperties) {
            let summary = TaskSummary(task)
            state = task.state
            stateCell = CellText(task.state.rawValue)
            id = CellText(task.id)
            progress = CellText(summary.percent)
            size = CellText(summary.size)
            speed = CellText(summary.speed)
            left = CellText(summary.timeLeft(bytesPerSecond: task.speed))
            name = summary.name
            why = summary.shortReason
            expectedName = task.fileName.isEmpty ? summary.shortName : nil
        }

        /// The same; a URL that stands for a name and does not fit is replaced by its last part.
        subscript(column: Column, within nameWidth: Int?) -> CellText {
            guard column == .name, let expectedName, let nameWidth, name.width > nameWidth else {
                return self[column]
            }
            return expectedName
        }

        subscript(column: Column) -> CellText {
            switch column {
            case .id: id
            case .state: stateCell
            case .progress: progress
            case .size: size
            case .speed: speed
            case .left: left
            case .name: name
            case .why: why
            }
        }

        func ink(_ column: Column) -> Style.Ink {
            column == .state ? Style.Ink(state) : .plain
        }
    }
}
