// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// Everything about one task, each fact in a line of its own.
package struct TaskDetails: Sendable {
    /// Where the lines are shown.
    package enum Room: Hashable, Sendable {
        /// A pipe or a file: each fact takes one line, however long it is.
        case unlimited
        /// A terminal of this width: each fact takes one line, so that a URL can be selected; a bar
        /// shows which parts are on disk.
        case terminal(width: Int)
        /// A box of this width: long facts wrap; a bar shows which parts are on disk.
        case box(width: Int)

        fileprivate var width: Int? {
            switch self {
            case .unlimited: nil
            case .terminal(let width), .box(let width): width
            }
        }
    }

    /// The lines, without line ends.
    package let lines: [String]

    /// Lays a task out.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - style: Whether there are colours.
    ///   - room: Where the lines are shown.
    ///   - time: Writes µs since the epoch as a local time.
    package init(
        _ task: TaskProperties,
        style: Style,
        room: Room = .unlimited,
        time: (UInt64) -> String
    ) {
        var facts = Self.facts(task, forCommand: true, time)
        let titleWidth = facts.reduce(0) { max($0, $1.title.utf8.count) } + 3
        if let picture = Self.picture(of: task, width: room.width.map { $0 - titleWidth }) {
            let place = facts.firstIndex { $0.title == translated("Size") } ?? 0
            facts.insert(Fact(translated("On disk"), picture), at: place + 1)
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

    /// One fact about a task.
    package struct Fact: Hashable, Sendable {
        package let title: String
        package let text: CellText
        var ink: Style.Ink = .plain

        init(_ title: String, _ text: String, _ ink: Style.Ink = .plain) {
            self.title = title
            self.text = CellText(text)
            self.ink = ink
        }
    }

    /// Returns what is known of a task, in the user's language.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - isForCommand: Whether the command shows them: with the words that scripts know, and with
    ///     commands that help after an error.
    ///   - time: Writes µs since the epoch as a local time.
    /// - Returns: The facts; what is not known is left out.
    package static func facts(
        _ task: TaskProperties,
        forCommand isForCommand: Bool = false,
        _ time: (UInt64) -> String
    ) -> [Fact] {
        let summary = TaskSummary(task)
        // No server has told anything yet.
        let isUnknown = task.knownTotal == nil && task.downloadedBytes == 0
        var facts = [
            Fact(translated("ID"), task.id),
            Fact(translated("Name"), task.fileName),
            Fact(
                translated("State"),
                isForCommand ? words(task) : titles(task),
                Style.Ink(task.state)
            ),
            Fact(translated("Progress"), summary.fraction == nil ? "" : summary.percent),
            Fact(translated("Size"), isUnknown ? "" : summary.bytes),
            Fact(translated("Speed"), summary.speed),
            Fact(translated("Time left"), summary.timeLeft(bytesPerSecond: task.speed)),
            Fact(translated("Error"), error(task, forCommand: isForCommand), .red),
            Fact(translated("Attempts"), task.attempts == 0 ? "" : shown(UInt(task.attempts))),
            Fact(translated("Next attempt"), task.retryAt == 0 ? "" : time(task.retryAt)),
            Fact(
                translated("Tries for"),
                task.retryFor == Contract.usualRetryFor
                    ? "" : Quantity.text(ofSeconds: task.retryFor)
            ),
            Fact(translated("URL"), task.url),
            Fact(translated("Referrer"), task.referrer),
            Fact(translated("User agent"), task.userAgent),
            Fact(translated("Headers"), task.headerNames.joined(separator: ", ")),
            Fact(translated("Folder"), task.directory),
            Fact(translated("File"), task.path),
            Fact(
                translated("If name is taken"),
                task.onExisting == AddOptions.OnExisting.rename.rawValue
                    ? "" : word(task.onExisting)
            ),
            Fact(translated("When done"), word(task.whenDone)),
            Fact(translated("Type"), task.mimeType),
            Fact(
                translated("Expected size"),
                task.expectedSize == 0 ? "" : "\(ByteCount(task.expectedSize))"
            ),
            Fact(translated("Checksum"), task.checksum),
            Fact(translated("Integrity"), word(task.integrity.rawValue)),
            Fact(
                translated("Resumable"),
                task.state == .completed || isUnknown
                    ? "" : task.resumable ? translated("yes") : translated("no")
            ),
            Fact(translated("Connections"), connections(task)),
            Fact(translated("Priority"), task.priority == 0 ? "" : "\(task.priority)"),
            Fact(
                translated("Speed limit"),
                task.speedLimit == 0 ? "" : "\(ByteRate(task.speedLimit))"
            ),
            Fact(translated("Added by"), task.addedBy),
            Fact(translated("Added"), task.createdAt == 0 ? "" : time(task.createdAt)),
            Fact(translated("Finished"), task.finishedAt == 0 ? "" : time(task.finishedAt)),
        ]
        let place = facts.firstIndex { $0.title == translated("Referrer") } ?? 0
        facts.insert(contentsOf: task.mirrors.map { Fact(translated("Mirror"), $0) }, at: place)
        return facts.filter { !$0.text.description.isEmpty }
    }

    /// Returns a bar of the parts on disk; nil if the size is not known, or all or nothing is there.
    private static func picture(of task: TaskProperties, width: Int?) -> String? {
        guard let width, width >= 4, let total = task.knownTotal, task.state != .completed,
            !task.segments.isEmpty
        else { return nil }
        return SegmentBar(task.byteRanges, total: total, width: width).text
    }

    /// Returns the state and its detail as the list of the window names them.
    private static func titles(_ task: TaskProperties) -> String {
        let detail = task.activity == .none ? task.hold.title : task.activity.title
        return detail.isEmpty ? task.state.title : "\(task.state.title) (\(detail))"
    }

    /// Returns the state and its detail in the words of the contract.
    private static func words(_ task: TaskProperties) -> String {
        let detail = task.activity == .none ? task.hold.rawValue : task.activity.rawValue
        let state = word(task.state.rawValue)
        return detail.isEmpty ? state : "\(state) (\(word(detail)))"
    }

    /// A word of the contract in the user's language; scripts know it in English.
    private static func word(_ word: String) -> String {
        switch word {
        case "waiting": translated("waiting")
        case "downloading": translated("downloading")
        case "paused": translated("paused")
        case "completed": translated("completed")
        case "failed": translated("failed")
        case "cancelled": translated("cancelled")
        case "connecting": translated("connecting")
        case "transferring": translated("transferring")
        case "verifying": translated("verifying")
        case "moving": translated("moving")
        case "queue": translated("queue")
        case "retry": translated("retry")
        case "offline": translated("offline")
        case "metered": translated("metered")
        case "battery": translated("battery")
        case "space": translated("space")
        case "settings": translated("settings")
        case "checksum": translated("checksum")
        case "validators": translated("one version throughout, as the server says")
        case "length": translated("length")
        case "none": translated("not proven")
        case "fail": translated("fail")
        case "open": translated("open")
        case "reveal": translated("show in folder")
        default: word
        }
    }

    /// Returns how many connections are open, and the limit if this task has its own.
    private static func connections(_ task: TaskProperties) -> String {
        let open = task.connections == 0 ? "" : "\(task.connections)"
        guard task.maxConnections > 0 else { return open }
        return (open.isEmpty ? "" : open + ", ")
            + translated("at most {count}", ["count": "\(task.maxConnections)"])
    }

    private static func error(_ task: TaskProperties, forCommand isForCommand: Bool) -> String {
        let (code, message) = (task.errorCode, task.errorMessage)
        guard !code.isEmpty else { return "" }
        let said = isForCommand ? "\(code): \(message)" : message
        let text = FailureText.text(of: code, saying: said)
        // The sentence of another language names neither numbers nor what to do.
        let all = text.hasSuffix(message) ? text : "\(text). \(message)"
        return isForCommand ? all : FailureText.withoutEditCommand(all)
    }
}
