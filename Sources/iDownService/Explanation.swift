// SPDX-License-Identifier: Apache-2.0

import Executors
import iDownData
import iDownState
import iDownloader

/// Finds out why a task does not move (contract, Explain and ExplainCodes).
struct Explanation {
    let record: TaskRecord
    /// What keeps a task of the queue from starting although a slot may be free.
    let obstacle: Obstacle?
    /// How many tasks run, and how many may.
    let slots: (used: Int, all: Int)
    /// How long its present wait for the next try still lasts.
    let wait: Duration
    /// How many bytes its disk lacks; nil where that cannot be told, or there is enough by now.
    let missingSpace: Int64?
    /// What is wrong in the settings file, and where; nil where nothing is.
    let settings: String?
    /// The present time.
    let date: WallTime

    /// Looks at all that may keep a task from moving.
    init(of record: TaskRecord, in coordinator: isolated Coordinator) async throws {
        self.record = record
        date = coordinator.time.date
        let surroundings = coordinator.holds.surroundings(in: coordinator)
        obstacle = surroundings().obstacle(
            for: record.request.origin,
            directory: record.request.directory,
            hasFile: record.file != nil
        )
        settings = coordinator.holds.wishes.onSettings
        let deadline = coordinator.retries.deadline(of: record.id)
        if case .waiting(.retry(let end)) = record.state {
            let time = coordinator.time
            wait = deadline.map { $0 - time.now } ?? end.since(time.date)
        } else {
            wait = .zero
        }
        slots = (try await coordinator.counts()[.downloading], coordinator.slots.count)
        let engine = coordinator.engine
        if let needed = record.failure?.neededSpace, record.state == .waiting(.space),
            // A call that names no folder is answered at once, whatever its disk does.
            let free = await promptly(
                within: .milliseconds(300),
                { await engine.freeSpace(in: record.request.directory)?.bytes }
            ) ?? nil
        {
            missingSpace = free < needed ? needed - free : nil
        } else {
            missingSpace = nil
        }
    }

    /// One reason or two; none for a task that moves or is completed.
    var reasons: [Reason] {
        if record.isMoving, record.state.kind == .waiting || record.state == .downloading {
            return [.moving]
        }
        return switch record.state {
        case .downloading, .completed: []
        case .paused: [.paused]
        case .cancelled: [.cancelled]
        case .failed: [.failed(record.failure, of: record.id)]
        case .waiting(.queue): [obstacleReason ?? .queue(running: slots.used, slots: slots.all)]
        case .waiting(.retry):
            [hostRest ?? .retry(after: wait, at: date, of: record.failure)]
                + [end].compactMap(\.self)
        case .waiting(.offline): [.offline]
        case .waiting(.metered): [.metered]
        case .waiting(.battery): [.battery]
        case .waiting(.space): [.space(missing: missingSpace)]
        case .waiting(.settings): [.settings(settings)]
        }
    }

    /// The pause that a host asked for, told to another task, which this one waits for; nil where it
    /// waits for its own next try.
    private var hostRest: Reason? {
        // Without a failure nothing else makes a task wait for a next try.
        guard let failure = record.failure else { return .hostRests(for: wait, at: date) }
        guard failure.retryAfter == nil, case .hostRests(let rest) = obstacle,
            // Both were measured a moment apart.
            rest > wait - .seconds(1)
        else { return nil }
        return .hostRests(for: max(rest, wait), at: date)
    }

    /// When a task that is tried again is given up; nil where it is never given up.
    private var end: Reason? {
        guard record.tries > 0 || record.waited > .zero else { return nil }
        // The time is over already: the next failure is the last.
        if record.stretch.left == .zero { return .givesUp(afterTries: 1) }
        let failure = record.failure ?? Failure(.serverBusy, "")
        if let tries = record.stretch.triesLeft(after: failure) {
            return .givesUp(afterTries: tries)
        }
        return record.stretch.left.map { .givesUp(after: $0 + max(.zero, wait), at: date) }
    }

    private var obstacleReason: Reason? {
        switch obstacle {
        case nil: nil
        case .offline: .offline
        case .metered: .metered
        case .batteryLow: .battery
        case .wrongSettings: .settings(settings)
        case .diskFull: .space(missing: nil)
        case .hostRests(let rest): .hostRests(for: rest, at: date)
        }
    }
}
