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
        func line(_ cell: (Column) -> CellText, _ ink: (Column) -> Style.Ink) -> String {
            columns.map { column, cells in
                let cell = cell(column)
                guard column != .name else {
                    return style.paint(
                        (nameWidth.map(cell.cut(to:)) ?? cell).description,
                        ink(column)
                    )
                }
                let text = column.isNumber ? cell.paddedLeft(to: cells) : cell.padded(to: cells)
                return style.paint(text, ink(column))
            }.joined(separator: Self.gap)
        }
        let heading = line(\.title) { _ in .bold }
        lines = [heading] + rows.map { row in line({ row[$0] }, row.ink) }
    }

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
    private enum Column: String, CaseIterable {
        case id = "ID"
        case state = "STATE"
        case progress = "PROGRESS"
        case size = "SIZE"
        case speed = "SPEED"
        case left = "LEFT"
        case name = "NAME"

        /// In the order in which they give way to the name.
        static let dispensable: [Column] = [.left, .speed, .progress, .size]

        var title: CellText { CellText(rawValue) }

        var isNumber: Bool {
            switch self {
            case .id, .progress, .size, .speed, .left: true
            case .state, .name: false
            }
        }
    }

    private struct Row {
        private let summary: TaskSummary

        init(_ task: TaskProperties) {
            summary = TaskSummary(task)
        }

        subscript(column: Column) -> CellText {
            switch column {
            case .id: CellText(summary.task.id)
            case .state: CellText(summary.task.state.rawValue)
            case .progress: CellText(summary.percent)
            case .size: CellText(summary.size)
            case .speed: CellText(summary.speed)
            case .left: CellText(summary.timeLeft(bytesPerSecond: summary.task.speed))
            case .name: summary.name
            }
        }

        func ink(_ column: Column) -> Style.Ink {
            column == .state ? Style.Ink(summary.task.state) : .plain
        }
    }
}
