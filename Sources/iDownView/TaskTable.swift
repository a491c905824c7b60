// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// The list of tasks as columns: ID STATE PROGRESS SIZE SPEED LEFT NAME.
package struct TaskTable: Sendable {
    /// The lines, without their ends; the first names the columns.
    package let lines: [String]

    /// Lays a list out.
    ///
    /// - Parameters:
    ///   - tasks: The tasks, in the order of the lines.
    ///   - width: Cells that a line may take; columns that do not fit beside a readable name are
    ///     left out, the name is cut. nil cuts nothing, for a pipe.
    ///   - style: Colours, if any.
    package init(_ tasks: [TaskProperties], width: Int?, style: Style) {
        let rows = tasks.map(Row.init)
        var columns = Column.allCases.map { column in
            (column, rows.reduce(column.title.width) { max($0, $1[column].width) })
        }
        if let width {
            for dispensable in Column.dispensable where Self.fixedWidth(columns) > width {
                columns.removeAll { $0.0 == dispensable }
            }
        }
        let nameWidth = width.map { max(1, $0 - Self.leadWidth(columns)) }
        let layout = Layout(columns: columns, nameWidth: nameWidth, style: style)
        let heading = layout.line(\.title) { _ in .bold }
        lines = [heading] + rows.map { row in layout.line({ row[$0, within: nameWidth] }, row.ink) }
    }

    /// What a table shows of a task.
    package static let properties: [TaskProperty] = [
        .id, .url, .fileName, .state, .downloadedBytes, .totalBytes, .speed,
    ]

    private static let gap = "  "

    /// A name shorter than this is not worth its column.
    private static let readableName = 20

    private static func leadWidth(_ columns: [(Column, Int)]) -> Int {
        columns.reduce(0) { $1.0 == .name ? $0 : $0 + $1.1 + gap.count }
    }

    private static func fixedWidth(_ columns: [(Column, Int)]) -> Int {
        leadWidth(columns) + readableName
    }
}

extension TaskTable {
    private enum Column: Int, CaseIterable {
        case id, state, progress, size, speed, left, name

        /// In the order in which they give way to the name.
        static let dispensable: [Column] = [.left, .speed, .progress, .size]

        var title: CellText { CellText("\(self)".uppercased()) }

        var isNumber: Bool {
            switch self {
            case .id, .progress, .size, .speed, .left: true
            case .state, .name: false
            }
        }
    }

    /// How wide the columns are that fit.
    private struct Layout {
        let columns: [(Column, Int)]
        let nameWidth: Int?
        let style: Style

        func line(_ cell: (Column) -> CellText, _ ink: (Column) -> Style.Ink) -> String {
            var line = ""
            // A usual one is shorter; to grow costs more than to make it.
            line.reserveCapacity(200)
            for (column, cells) in columns {
                if !line.isEmpty { line += TaskTable.gap }
                line += style.paint(text(cell(column), in: column, cells), ink(column))
            }
            return line
        }

        private func text(_ cell: CellText, in column: Column, _ cells: Int) -> String {
            switch column {
            case .name: (nameWidth.map(cell.cut(to:)) ?? cell).description
            case _ where column.isNumber: cell.paddedLeft(to: cells)
            default: cell.padded(to: cells)
            }
        }
    }

    private struct Row {
        private let state: TaskProperties.State
        private let stateCell, id, progress, size, speed, left, name: CellText
        /// What the URL makes expect, where there is no name yet.
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
            expectedName = task.fileName.isEmpty ? summary.shortName : nil
        }

        /// The same; where a URL stands for a name and does not fit, its end tells more.
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
            }
        }

        func ink(_ column: Column) -> Style.Ink {
            column == .state ? Style.Ink(state) : .plain
        }
    }
}
