// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Takes what happens from those who must not wait, and keeps it until the desktop is told.
///
/// It does not grow beyond its limits, whatever happens and whoever does not listen.
package final class DesktopFeed: Sendable {
    /// Tasks that do not download any more but are shown as paused somewhere.
    static let mostResting = 128
    /// Tasks that ended since the desktop was told last; more are only counted.
    ///
    /// As many are told of that were handed over.
    package static let mostEnded = 256
    /// The same for those whose file is to be opened or shown, or that a command is run for.
    package static let mostEndedWithWork = 100_000

    private let mostEnded: Mutex<Int>

    private let state = Mutex(DesktopNews())
    /// Something has happened; one for any number of happenings.
    let pokes: AsyncStream<Void>
    private let poke: AsyncStream<Void>.Continuation

    /// - Parameter mostEnded: so many ends are told one by one.
    package init(mostEnded: Int = DesktopFeed.mostEnded) {
        self.mostEnded = Mutex(mostEnded)
        (pokes, poke) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// A task is in another state, or something else of it that is worth showing has changed.
    package func changed(_ task: DesktopTask) {
        let isNews = state.withLock { news in
            let wasActive = news.active[task.id] != nil
            let isKnown = wasActive || news.resting[task.id] != nil
            switch task.state {
            case .downloading:
                news.resting[task.id] = nil
                news.active[task.id] = task
            case .waiting, .paused:
                guard isKnown else { return false }
                news.active[task.id] = nil
                let hasRoom = news.resting.count < Self.mostResting
                news.resting[task.id] = hasRoom || !wasActive ? task : nil
            case .cancelled:
                guard isKnown else { return false }
                news.active[task.id] = nil
                news.resting[task.id] = nil
            case .completed, .failed:
                news.active[task.id] = nil
                news.resting[task.id] = nil
                let most = mostEnded.withLock { $0 }
                let limit = task.whenDone == nil ? most : Self.mostEndedWithWork
                news.end(task, limit)
            }
            return true
        }
        if isNews { poke.yield() }
    }

    /// A running task has come further.
    package func progressed(
        _ id: String,
        bytes: Int64,
        of total: Int64?,
        bytesPerSecond: UInt64
    ) {
        state.withLock { news in
            news.active[id]?.bytes = bytes
            news.active[id]?.totalBytes = total
            news.active[id]?.bytesPerSecond = bytesPerSecond
        }
        poke.yield()
    }

    /// A task is not in the list any more.
    package func removed(_ id: String) {
        let isNews = state.withLock { news in
            let active = news.active.removeValue(forKey: id)
            return news.resting.removeValue(forKey: id) ?? active != nil
        }
        if isNews { poke.yield() }
    }

    /// Another program has handed a task over, and nobody else shows it.
    package func handedOver(_ task: DesktopTask) {
        state.withLock { news in
            guard news.handedOver.count < Self.mostEnded else { return }
            news.handedOver.append(task)
        }
        poke.yield()
    }

    /// Somebody has asked for the program and named nothing.
    package func activated() {
        state.withLock { $0.isActivated = true }
        poke.yield()
    }

    /// From now on so many ends are told one by one.
    func tellEnds(upTo most: Int) { mostEnded.withLock { $0 = most } }

    /// What is to be told now; what has come to its end is told once.
    func take() -> DesktopNews {
        state.withLock { news in
            defer {
                news.ended = []
                news.moreCompleted = 0
                news.moreFailed = 0
                news.handedOver = []
                news.isActivated = false
            }
            return news
        }
    }
}

extension DesktopNews {
    fileprivate mutating func end(_ task: DesktopTask, _ limit: Int) {
        if ended.count < limit {
            ended.append(task)
        } else if task.state == .completed {
            moreCompleted += 1
        } else {
            moreFailed += 1
        }
    }
}
