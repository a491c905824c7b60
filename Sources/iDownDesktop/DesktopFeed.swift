// SPDX-License-Identifier: Apache-2.0

import Synchronization
import iDownState

/// Collects what happens to the tasks until the desktop takes it; adding to it never blocks.
///
/// Its size is limited, even if nothing ever takes the news.
package final class DesktopFeed: Sendable {
    /// How many tasks that no longer download, but are shown as paused, are kept.
    static let maxInactive = 128
    /// How many ended tasks are kept one by one between two updates; any more are only counted.
    ///
    /// The same limit holds for tasks that another program handed over.
    package static let maxEnded = 256
    /// The same limit for tasks whose file is to be opened or revealed, or for which a command
    /// runs.
    package static let maxEndedWithAction = 100_000

    private let maxEnded: Mutex<Int>

    private let state = Mutex(DesktopNews())
    /// An element whenever there is news; several pieces of news may share one.
    let wakeUps: AsyncStream<Void>
    private let wakeUp: AsyncStream<Void>.Continuation

    /// - Parameter maxEnded: How many ended tasks are kept one by one between two updates.
    package init(maxEnded: Int = DesktopFeed.maxEnded) {
        self.maxEnded = Mutex(maxEnded)
        (wakeUps, wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Whether the desktop shows a task that downloads, or did.
    package func knows(_ id: String) -> Bool {
        state.withLock { $0.active[id] != nil || $0.inactive[id] != nil }
    }

    /// Records a task's new state, or a change of what is shown of it.
    package func changed(_ task: DesktopTask) {
        let isNews = state.withLock { news in
            let wasActive = news.active[task.id] != nil
            let isKnown = wasActive || news.inactive[task.id] != nil
            switch task.state {
            case .downloading:
                news.inactive[task.id] = nil
                news.active[task.id] = task
            case .waiting, .paused:
                guard isKnown else { return false }
                news.active[task.id] = nil
                let hasRoom = news.inactive.count < Self.maxInactive
                news.inactive[task.id] = hasRoom || !wasActive ? task : nil
            case .cancelled:
                guard isKnown else { return false }
                news.active[task.id] = nil
                news.inactive[task.id] = nil
            case .completed, .failed:
                news.active[task.id] = nil
                news.inactive[task.id] = nil
                let usualLimit = maxEnded.withLock { $0 }
                let limit = task.whenDone == nil ? usualLimit : Self.maxEndedWithAction
                news.end(task, limit)
            }
            return true
        }
        if isNews { wakeUp.yield() }
    }

    /// Records the progress of a running task.
    package func progressed(_ id: String, bytes: Int64, of total: Int64?, bytesPerSecond: UInt64) {
        state.withLock { news in
            news.active[id]?.bytes = bytes
            news.active[id]?.totalBytes = total
            news.active[id]?.bytesPerSecond = bytesPerSecond
        }
        wakeUp.yield()
    }

    /// Records that a task was removed from the list.
    package func removed(_ id: String) {
        let isNews = state.withLock { news in
            let active = news.active.removeValue(forKey: id)
            return news.inactive.removeValue(forKey: id) ?? active != nil
        }
        if isNews { wakeUp.yield() }
    }

    /// Records a task that another program added and does not show itself.
    package func handedOver(_ task: DesktopTask) {
        state.withLock { news in
            guard news.handedOver.count < Self.maxEnded else { return }
            news.handedOver.append(task)
        }
        wakeUp.yield()
    }

    /// Records the first task that a browser has handed over.
    package func introduce(_ task: DesktopTask) {
        state.withLock { $0.introduced = task }
        wakeUp.yield()
    }

    /// Records that the user is to be asked whether a task goes on with the link of a new download.
    package func askToContinue(_ task: DesktopTask, with new: DesktopTask) {
        state.withLock { $0.freshLink = (task, new) }
        wakeUp.yield()
    }

    /// Records that the user started idown without a URL, for example from the application menu.
    ///
    /// - Parameter token: The activation token of what was clicked; empty for none.
    package func activated(token: String = "") {
        state.withLock { $0.activation = token }
        wakeUp.yield()
    }

    /// Sets how many ended tasks are kept one by one between two updates.
    func setMaxEnded(_ limit: Int) { maxEnded.withLock { $0 = limit } }

    /// Returns the news, and forgets those parts that are shown only once.
    func take() -> DesktopNews {
        state.withLock { news in
            defer {
                news.ended = []
                news.unlisted = [:]
                news.handedOver = []
                news.introduced = nil
                news.freshLink = nil
                news.activation = nil
            }
            return news
        }
    }
}

extension DesktopNews {
    fileprivate mutating func end(_ task: DesktopTask, _ limit: Int) {
        if ended.count < limit { return ended.append(task) }
        let kind = task.state == .completed ? NotificationKind.completed : .failed
        unlisted[kind, default: NotificationGroup()].add(unlisted: [task.id])
    }
}

/// The state of the running tasks, and what has happened since the last update.
struct DesktopNews: Sendable {
    /// The tasks that are downloading, by id.
    var active: [String: DesktopTask] = [:]
    /// Tasks that were downloading and now wait or are paused, by id.
    var inactive: [String: DesktopTask] = [:]
    /// Tasks that were completed or failed, in order.
    var ended: [DesktopTask] = []
    /// The tasks that were completed, and those that failed, beyond those that `ended` lists.
    var unlisted: [NotificationKind: NotificationGroup] = [:]
    /// Tasks that another program added, in order.
    var handedOver: [DesktopTask] = []
    /// The first task that a browser has handed over.
    var introduced: DesktopTask?
    /// A task, and the new download whose link may be a fresh one for it.
    var freshLink: (task: DesktopTask, new: DesktopTask)?
    /// The activation token with which the user started idown without a URL; nil if the user did
    /// not.
    var activation: String?
}
