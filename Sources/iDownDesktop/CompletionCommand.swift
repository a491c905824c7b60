// SPDX-License-Identifier: Apache-2.0

import Logging

/// Runs the user's own command for every completed file, one after the other.
///
/// It comes from the settings file alone: what a client could set would be a way to run programs
/// outside of its sandbox (CVE-2016-1579).
actor CompletionCommand {
    /// Files that wait for their turn; more are told in the log and left out.
    private static let mostWaiting = DesktopFeed.mostEndedWithWork

    private var template: CommandTemplate?
    private let log: Logger
    private var programs = UserPrograms(connection: nil)
    private var waiting: ArraySlice<DesktopTask> = []
    private var worker: Task<Void, Never>?

    /// - Parameters:
    ///   - words: the command; nil runs none.
    ///   - log: where failures are told.
    init(_ words: [String]?, log: Logger) {
        template = words.map(CommandTemplate.init)
        self.log = log
    }

    /// Runs another command from now on, or none; for those files too that wait already.
    func use(_ words: [String]?) { template = words.map(CommandTemplate.init) }

    /// Starts its programs by way of this from now on.
    func use(_ programs: UserPrograms) { self.programs = programs }

    /// Takes note; never waits for anybody.
    func take(_ news: DesktopNews) {
        guard template != nil else { return }
        for task in news.ended where task.state == .completed {
            guard waiting.count < Self.mostWaiting else {
                log.error("WhenDoneCommand: too many files wait; not run for \(task.title)")
                continue
            }
            waiting.append(task)
        }
        if news.moreCompleted > 0 {
            log.error("WhenDoneCommand: not run for \(news.moreCompleted) files that came at once")
        }
        guard worker == nil, !waiting.isEmpty else { return }
        worker = Task {
            while let task = waiting.popFirst() { await run(for: task) }
            worker = nil
        }
    }

    private func run(for task: DesktopTask) async {
        guard let path = task.path, let template else { return }
        do {
            try await programs.run(template.command(path: path, url: task.url), named: "when-done")
        } catch {
            log.error("WhenDoneCommand for \(path): \(error)")
        }
    }
}
