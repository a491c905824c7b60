// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// Everything about one task, a line a fact.
package struct TaskDetails: Sendable {
    /// Where the lines go.
    package enum Room: Hashable, Sendable {
        /// A pipe or a file: a fact stands in one line, however long it is.
        case unlimited
        /// A terminal that is so many cells wide, where long facts stay in one piece, so that they
        /// can be selected; the picture of what is on disk fits it.
        case terminal(width: Int)
        /// A box that is so many cells wide: long facts go on in the next line.
        case box(width: Int)

        fileprivate var width: Int? {
            switch self {
            case .unlimited: nil
            case .terminal(let width), .box(let width): width
            }
        }
    }

    /// The lines, without their ends.
    package let lines: [String]

    /// Lays a task out.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - style: Colours, if any.
    ///   - room: Where the lines go.
    ///   - time: Writes µs since the epoch as a local time.
    package init(
        _ task: TaskProperties,
        style: Style,
        room: Room = .unlimited,
        time: (UInt64) -> String
    ) {
        var facts = Self.facts(task, time).filter { !$0.text.description.isEmpty }
        let titleWidth = facts.reduce(0) { max($0, $1.title.utf8.count) } + 3
        if let picture = Self.picture(of: task, width: room.width.map { $0 - titleWidth }) {
            let place = facts.firstIndex { $0.title == "Size" } ?? 0
            facts.insert(Fact("On disk", picture), at: place + 1)
        }
        lines = facts.flatMap { fact in
            let title = CellText(fact.title + ":").padded(to: titleWidth)
            let blanks = String(repeating: " ", count: titleWidth)
            let texts: [CellText]
            switch room {
            case .unlimited, .terminal: texts = [fact.text]
            case .box(let width): texts = fact.text.wrapped(to: max(1, width - titleWidth))
            }
            return texts.enumerated().map { place, text in
                (place == 0 ? title : blanks) + style.paint(text.description, fact.ink)
            }
        }
    }

    private struct Fact {
        let title: String
        let text: CellText
        var ink: Style.Ink = .plain

        init(_ title: String, _ text: String, _ ink: Style.Ink = .plain) {
            self.title = title
            self.text = CellText(text)
            self.ink = ink
        }
    }

    private static func facts(_ task: TaskProperties, _ time: (UInt64) -> String) -> [Fact] {
        let summary = TaskSummary(task)
        return [
            Fact("ID", task.id),
            Fact("Name", task.fileName),
            Fact("State", state(task), Style.Ink(task.state)),
            Fact("Progress", summary.fraction == nil ? "" : summary.percent),
            Fact("Size", summary.bytes),
            Fact("Speed", summary.speed),
            Fact("Time left", summary.timeLeft(bytesPerSecond: task.speed)),
            Fact("Error", error(task), .red),
            Fact("Attempts", task.attempts == 0 ? "" : "\(task.attempts)"),
            Fact("Next try", task.retryAt == 0 ? "" : time(task.retryAt)),
            Fact("URL", task.url),
            Fact("Referrer", task.referrer),
            Fact("Folder", task.directory),
            Fact("File", task.path),
            Fact("Type", task.mimeType),
            Fact("Checksum", task.checksum),
            Fact("Integrity", task.integrity.rawValue),
            Fact("Resumable", task.state == .completed ? "" : task.resumable ? "yes" : "no"),
            Fact("Connections", connections(task)),
            Fact("Priority", task.priority == 0 ? "" : "\(task.priority)"),
            Fact("Speed limit", task.speedLimit == 0 ? "" : "\(ByteRate(task.speedLimit))"),
            Fact("Added", task.createdAt == 0 ? "" : time(task.createdAt)),
            Fact("Finished", task.finishedAt == 0 ? "" : time(task.finishedAt)),
        ]
    }

    /// Which parts are on disk; nil where the size is not known, or where it is all or nothing.
    private static func picture(of task: TaskProperties, width: Int?) -> String? {
        guard let width, width >= 4, let total = task.knownTotal, task.state != .completed,
            !task.segments.isEmpty
        else { return nil }
        return SegmentBar(task.byteRanges, total: total, width: width).text
    }

    private static func state(_ task: TaskProperties) -> String {
        let detail =
            task.state == .downloading ? task.activity.rawValue : task.hold.rawValue
        return detail.isEmpty ? task.state.rawValue : "\(task.state) (\(detail))"
    }

    /// Those that are open, and the most that may be where that is said of this task.
    private static func connections(_ task: TaskProperties) -> String {
        let open = task.connections == 0 ? "" : "\(task.connections)"
        guard task.maxConnections > 0 else { return open }
        return (open.isEmpty ? "" : open + ", ") + "at most \(task.maxConnections)"
    }

    private static func error(_ task: TaskProperties) -> String {
        task.errorCode.isEmpty ? "" : "\(task.errorCode): \(task.errorMessage)"
    }
}
