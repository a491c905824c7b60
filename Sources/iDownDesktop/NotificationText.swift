// SPDX-License-Identifier: Apache-2.0

/// What a notification is about; of each kind at most one is open.
enum NotificationKind: Hashable, CaseIterable, Sendable {
    case added, completed, failed
}

/// The tasks that one notification tells of.
struct NotificationGroup: Hashable, Sendable {
    /// So many are kept one by one; more are counted.
    static let mostTasks = 100

    private(set) var tasks: [DesktopTask] = []
    private(set) var more = 0

    var count: Int { tasks.count + more }
    var isEmpty: Bool { count == 0 }

    /// Adds one; a task that is there already is told as it is now.
    mutating func add(_ task: DesktopTask) {
        if let index = tasks.firstIndex(where: { $0.id == task.id }) {
            tasks.remove(at: index)
        } else if tasks.count == Self.mostTasks {
            tasks.removeFirst()
            more += 1
        }
        tasks.append(task)
    }

    mutating func add(uncounted number: Int) { more += number }

    /// Adds what is newer.
    mutating func add(_ news: NotificationGroup) {
        for task in news.tasks { add(task) }
        add(uncounted: news.more)
    }
}

/// What a notification says.
struct NotificationText: Hashable, Sendable {
    /// So many names are read at a glance.
    private static let mostNames = 4
    /// A name that is longer is cut: no server shows more.
    private static let longestLine = 200

    var summary: String
    var body: String
    /// Keys and labels by turns, as `Notify` takes them.
    var actions: [String]

    /// - Parameters:
    ///   - kind: what has happened.
    ///   - group: to whom.
    ///   - capabilities: what the server can show (`GetCapabilities`).
    init(
        _ kind: NotificationKind,
        _ group: NotificationGroup,
        capabilities: Set<String>
    ) {
        let isOne = group.count == 1
        var lines = group.tasks.suffix(Self.mostNames).map { task in
            isOne && kind == .failed && !task.failure.isEmpty
                ? "\(Self.line(task.title)): \(Self.line(task.failure))" : Self.line(task.title)
        }
        let others = group.count - lines.count
        if others > 0 { lines.append("and \(others) more") }
        summary = Self.summary(kind, count: group.count)
        body = lines.joined(separator: "\n")
        if !capabilities.contains("body") {
            if isOne { summary += ": " + body }
            body = ""
        } else if capabilities.contains("body-markup") {
            body = Self.escape(body)
        }
        actions = capabilities.contains("actions") ? Self.actions(kind, isOne: isOne) : []
    }

    /// How the list stands.
    ///
    /// - Parameters:
    ///   - list: in numbers.
    ///   - active: what downloads, as far as it is to be named.
    ///   - capabilities: what the server can show.
    init(_ list: DesktopSummary, active: [DesktopTask], capabilities: Set<String>) {
        var lines = active.prefix(Self.mostNames).map { task in
            let name = Self.line(task.title)
            guard let total = task.totalBytes, total > 0 else { return name }
            return "\(name): \(Int(Double(min(task.bytes, total)) / Double(total) * 100)) %"
        }
        let others = list.downloading - lines.count
        if others > 0, !lines.isEmpty { lines.append("and \(others) more") }
        summary = list.text
        body = capabilities.contains("body") ? lines.joined(separator: "\n") : ""
        if capabilities.contains("body-markup") { body = Self.escape(body) }
        actions = []
        guard capabilities.contains("actions") else { return }
        actions = ["default", "Show List", "list", "Show List", "folder", "Open Folder"]
        if list.isUnderWay { actions += ["pause-all", "Pause All"] }
        if list.isResting { actions += ["start-all", "Start All"] }
    }

    private static func summary(_ kind: NotificationKind, count: Int) -> String {
        let what = count == 1 ? "Download" : "\(count) downloads"
        return switch kind {
        case .added: "\(what) added"
        case .completed: "\(what) completed"
        case .failed: "\(what) failed"
        }
    }

    private static func actions(_ kind: NotificationKind, isOne: Bool) -> [String] {
        switch kind {
        case .added: []
        case .completed:
            (isOne ? ["default", "Open", "open", "Open"] : ["default", "Show in Folder"])
                + ["reveal", "Show in Folder"]
        case .failed: ["retry", "Retry"]
        }
    }

    /// One line, whatever stands in it.
    private static func line(_ text: String) -> String {
        let scalars = text.unicodeScalars.prefix(longestLine).map { scalar in
            scalar.properties.generalCategory == .control ? " " : scalar
        }
        return String(String.UnicodeScalarView(scalars))
    }

    /// The specification's markup knows these three characters.
    static func escape(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            .replacing(">", with: "&gt;")
    }
}
