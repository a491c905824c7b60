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
    /// How many tasks run, how many may, and how many run on a disk that does not answer.
    let slots: (used: Int, all: Int, stuck: Int)
    /// How long its present wait for the next try still lasts.
    let wait: Duration
    /// How many bytes its disk lacks; nil where that cannot be told, or there is enough by now.
    let missingSpace: Int64?
    /// Whether a disk that it needs has not answered for ``Coordinator/longestLook``.
    let isDiskStuck: Bool
    /// What is wrong in the settings file, and where; nil where nothing is.
    let settings: String?
    /// The present time.
    let date: WallTime

    /// Looks at all that may keep a task from moving.
    init(of task: TaskSnapshot, in coordinator: isolated Coordinator) async throws {
        let record = task.record
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
        let running = try await coordinator.counts()[.downloading]
        var stuck = 0
        if record.state == .waiting(.queue) {
            for id in coordinator.slots.running.keys {
                guard let other = try? await coordinator.task(id) else { continue }
                if Self.isStuck(other, in: coordinator) { stuck += 1 }
            }
        }
        slots = (running, coordinator.slots.count, stuck)
        isDiskStuck = Self.isStuck(task, in: coordinator)
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

    /// Returns whether a task makes no progress on a disk that has not answered for
    /// ``Coordinator/longestLook``.
    ///
    /// A disk that is busy with one task's sync may still take another task's bytes.
    private static func isStuck(_ task: TaskSnapshot, in coordinator: isolated Coordinator) -> Bool
    {
        let record = task.record
        guard record.state == .downloading || record.isMoving,
            task.live?.bytesPerSecond ?? 0 == 0
        else { return false }
        return [record.request.directory, record.destination?.directory].contains { directory in
            directory.map {
                coordinator.engine.disk.isStuck(in: $0, for: Coordinator.longestLook)
            } ?? false
        }
    }

    /// One reason or two; none for a task that moves or is completed.
    var reasons: [Reason] {
        if record.isMoving, record.state.kind == .waiting || record.state == .downloading {
            return [.moving] + disk
        }
        return switch record.state {
        case .downloading: disk
        case .completed: []
        case .paused: [.paused]
        case .cancelled: [.cancelled]
        case .failed: [.failed(record.failure, of: record.id)]
        case .waiting(.queue):
            [
                obstacleReason
                    ?? .queue(running: slots.used, slots: slots.all, stuck: slots.stuck)
            ]
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

    private var disk: [Reason] { isDiskStuck ? [.disk] : [] }

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
