// SPDX-License-Identifier: Apache-2.0

import iDownView

/// The event that a notification reports; at most one notification of each kind is open.
enum NotificationKind: Hashable, CaseIterable, Sendable {
    case added, completed, failed
    /// The first download that a browser has handed over, whose buttons let the user refuse more.
    case introduced
    /// Whether an unfinished task, the first of the group, goes on with the link of a new download,
    /// the second.
    case freshLink
}

/// The tasks that one notification reports.
struct NotificationGroup: Hashable, Sendable {
    /// How many tasks are kept; of any more only the ids.
    static let maxTasks = 100
    /// How many ids are kept; any more are not counted.
    private static let maxIDs = 100_000

    private(set) var tasks: [DesktopTask] = []
    /// The ids of the tasks that are not in ``tasks``.
    private(set) var more: Set<String> = []

    init(_ tasks: [DesktopTask] = []) { self.tasks = tasks }

    var count: Int { tasks.count + more.count }
    var ids: Set<String> { more.union(tasks.map(\.id)) }

    /// Adds a task; a task that is in the group already is replaced.
    mutating func add(_ task: DesktopTask) {
        if let index = tasks.firstIndex(where: { $0.id == task.id }) {
            tasks.remove(at: index)
        } else if tasks.count == Self.maxTasks {
            add(unlisted: [tasks.removeFirst().id])
        }
        more.remove(task.id)
        tasks.append(task)
    }

    mutating func add(unlisted ids: some Sequence<String>) {
        for id in ids where more.count < Self.maxIDs && !tasks.contains(where: { $0.id == id }) {
            more.insert(id)
        }
    }

    /// Adds the tasks of a newer group.
    mutating func add(_ news: NotificationGroup) {
        for task in news.tasks { add(task) }
        add(unlisted: news.more)
    }
}

/// The text and the buttons of a notification.
struct NotificationText: Hashable, Sendable {
    /// How many names are listed: as many as can be read at a glance.
    private static let maxNames = 4
    /// Names are cut after this many characters; no server shows more.
    private static let longestLine = 200

    var summary: String
    var body: String
    /// Keys and labels in turn, as `Notify` takes them.
    var actions: [String]

    /// - Parameters:
    ///   - kind: The event.
    ///   - group: Its tasks.
    ///   - capabilities: What the server can show (`GetCapabilities`).
    init(_ kind: NotificationKind, _ group: NotificationGroup, capabilities: Set<String>) {
        let isOne = group.count == 1 || kind == .freshLink
        var lines = group.tasks.suffix(Self.maxNames).map { task in
            isOne && kind == .failed && !task.reason.isEmpty
                ? "\(Self.line(task.title)): \(Self.line(task.reason))" : Self.line(task.title)
        }
        let others = group.count - lines.count
        if others > 0 { lines.append(Self.more(others)) }
        if kind == .introduced {
            lines.append(
                translated("To keep downloads in your browser: idown config browser-hand-over off")
            )
        }
        summary = Self.summary(kind, count: group.count)
        if kind == .freshLink, let task = group.tasks.first {
            summary = translated("Continue {name} with this link?", ["name": Self.line(task.title)])
            lines = [
                translated(
                    "Its download is unfinished, and the new one has the same name and size."
                ),
                translated("Bytes are kept only if the server proves that both are the same file."),
            ]
        }
        body = lines.joined(separator: "\n")
        if !capabilities.contains("body") {
            if isOne, kind != .freshLink { summary += ": " + body }
            body = ""
        } else if capabilities.contains("body-markup") {
            body = Self.escape(body)
        }
        actions = capabilities.contains("actions") ? Self.actions(kind, isOne: isOne) : []
    }

    /// Sums up the unfinished downloads.
    ///
    /// - Parameters:
    ///   - list: The numbers of unfinished tasks.
    ///   - active: Downloading tasks, some of which are listed by name.
    ///   - capabilities: What the server can show (`GetCapabilities`).
    ///   - canShowList: Whether there is a terminal for ``FilePresenter/showList(folder:token:)``;
    ///     without one there is no button for it, and a click on the text opens the folder.
    init(
        _ list: DesktopSummary,
        active: [DesktopTask],
        capabilities: Set<String>,
        canShowList: Bool
    ) {
        var lines = active.prefix(Self.maxNames).map { task in
            let name = Self.line(task.title)
            return task.percent.map { "\(name): \(shown(percent: $0))" } ?? name
        }
        let others = list.downloading - lines.count
        if others > 0, !lines.isEmpty { lines.append(Self.more(others)) }
        summary = list.text
        body = capabilities.contains("body") ? lines.joined(separator: "\n") : ""
        if capabilities.contains("body-markup") { body = Self.escape(body) }
        actions = []
        guard capabilities.contains("actions") else { return }
        let (showList, openFolder) = (translated("Show List"), translated("Open Folder"))
        actions = canShowList ? ["default", showList, "list", showList] : ["default", openFolder]
        actions += ["folder", openFolder]
        if list.canPause { actions += ["pause-all", translated("Pause All")] }
        if list.canStart { actions += ["start-all", translated("Start All")] }
    }

    private static func summary(_ kind: NotificationKind, count: Int) -> String {
        let count = UInt(count)
        return switch kind {
        case .added: counted("Download added", "{count} downloads added", count)
        case .completed: counted("Download completed", "{count} downloads completed", count)
        case .failed: counted("Download failed", "{count} downloads failed", count)
        case .introduced:
            counted(
                "Download taken over from your browser",
                "{count} downloads taken over from your browser",
                count
            )
        case .freshLink: translated("Continue with this link?")
        }
    }

    private static func more(_ others: Int) -> String {
        counted("and {count} more", "and {count} more", UInt(others))
    }

    private static func actions(_ kind: NotificationKind, isOne: Bool) -> [String] {
        let (open, reveal) = (translated("Open"), translated("Show in Folder"))
        return switch kind {
        case .added: []
        case .completed:
            (isOne ? ["default", open, "open", open] : ["default", reveal]) + ["reveal", reveal]
        case .failed: ["retry", translated("Retry")]
        case .introduced:
            ["leave-site", translated("Not for This Site"), "leave-all", translated("Turn Off")]
        case .freshLink: ["continue", translated("Continue"), "new", translated("New Download")]
        }
    }

    /// Returns the text as one line, with blanks for control characters.
    private static func line(_ text: String) -> String {
        let scalars = text.unicodeScalars.prefix(longestLine).map { scalar in
            scalar.properties.generalCategory == .control ? " " : scalar
        }
        return String(String.UnicodeScalarView(scalars))
    }

    /// Escapes the three characters that have a meaning in the specification's markup.
    static func escape(_ text: String) -> String {
        // By scalars: a combining mark would make another character of them.
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            default: String(scalar)
            }
        }.joined()
    }
}
