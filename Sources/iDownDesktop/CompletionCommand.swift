// SPDX-License-Identifier: Apache-2.0

import Logging
import iDownState

/// Runs the user's command (`WhenDoneCommand`) for each completed file, one after another.
///
/// The command comes from the settings file only. If clients could set it, a sandboxed program
/// could run any program outside of its sandbox (CVE-2016-1579).
actor CompletionCommand {
    /// How many files may wait for the command; for any more it is not run, which is logged.
    private static let maxWaiting = DesktopFeed.maxEndedWithAction

    /// Without words, nothing runs.
    private var template: CommandTemplate
    private let log: Logger
    private var programs = ProgramLauncher(connection: nil)
    private var waiting: ArraySlice<DesktopTask> = []
    private var worker: Task<Void, Never>?

    /// - Parameters:
    ///   - words: The command; empty runs none.
    ///   - log: Receives failures.
    init(_ words: [String], log: Logger) {
        template = CommandTemplate(words: words)
        self.log = log
    }

    /// Replaces the command, also for files that already wait; empty runs none.
    func update(_ words: [String]) { template = CommandTemplate(words: words) }

    /// Replaces the launcher that starts the command.
    func update(_ programs: ProgramLauncher) { self.programs = programs }

    /// Queues the command for the files that were completed; returns without waiting for it.
    func receive(_ news: DesktopNews) {
        guard !template.words.isEmpty else { return }
        for task in news.ended where task.state == .completed {
            guard waiting.count < Self.maxWaiting else {
                log.error(
                    "WhenDoneCommand was not run for download \(task.id): too many files wait for it"
                )
                continue
            }
            waiting.append(task)
        }
        if let missed = news.unlisted[.completed]?.count {
            log.error("WhenDoneCommand was not run for \(missed) files: too many completed at once")
        }
        guard worker == nil, !waiting.isEmpty else { return }
        worker = Task {
            while let task = waiting.popFirst() { await run(for: task) }
            worker = nil
        }
    }

    private func run(for task: DesktopTask) async {
        guard let path = task.path, !template.words.isEmpty else { return }
        do {
            try await programs.run(template.command(path: path, url: task.url), named: "when-done")
        } catch {
            log.error("WhenDoneCommand failed for download \(task.id): \(error)")
        }
    }

    /// Tells for which files the command is not run any more.
    func end() {
        guard !waiting.isEmpty else { return }
        let ids = waiting.map(\.id).joined(separator: ", ")
        log.error("WhenDoneCommand was not run for the downloads \(ids): the service ends")
    }
}

/// A program and its arguments, with `{path}` and `{url}` as placeholders for a file's path and
/// URL.
///
/// No shell is involved, and inserted text is not searched for placeholders again: a file's name
/// stays within one argument, whatever characters it has.
struct CommandTemplate: Sendable {
    let words: [String]

    /// Returns the command for one file.
    func command(path: String, url: String) -> [String] {
        words.map { Self.fill($0, ["{path}": path, "{url}": url]) }
    }

    private static func fill(_ word: String, _ values: [String: String]) -> String {
        var filled = ""
        var rest = word[...]
        while let brace = rest.firstIndex(of: "{") {
            filled += rest[..<brace]
            rest = rest[brace...]
            if let (key, value) = values.first(where: { rest.hasPrefix($0.key) }) {
                filled += value
                rest = rest.dropFirst(key.count)
            } else {
                filled.append(rest.removeFirst())
            }
        }
        return filled + rest
    }
}
