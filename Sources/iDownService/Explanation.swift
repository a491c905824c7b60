// SPDX-License-Identifier: Apache-2.0

import iDownData
import iDownState
import iDownloader

/// Finds out why a task makes no progress (contract, Explain and ExplainCodes).
struct Explanation {
    let record: TaskRecord
    /// What keeps a queued task from starting although a slot may be free; nil where nothing does.
    let obstacle: Obstacle?
    /// How many tasks run, how many may run, and how many run on a disk that does not answer.
    let slots: (used: Int, all: Int, stuck: Int)
    /// How long the task still waits for its next try.
    let wait: Duration
    /// How many bytes the disk lacks; nil where that is unknown, or the disk has room by now.
    let missingSpace: Int64?
    /// Whether a disk that the task needs has not answered for ``Slots/stuckAfter``.
    let isDiskStuck: Bool
    /// The host that has no room for a running task's first connection; nil if there is none.
    let fullHost: Origin?
    /// What is wrong in the settings file, and where; nil where nothing is wrong.
    let settings: String?
    /// The present time.
    let date: WallTime

    /// Looks at everything that may keep a task from making progress.
    init(of task: TaskSnapshot, in coordinator: isolated Coordinator) async throws {
        let record = task.record
        self.record = record
        date = coordinator.time.date
        let surroundings = coordinator.holds.surroundings(in: coordinator)()
        obstacle = surroundings.obstacle(
            for: record.request.origin,
            mirrors: record.request.mirrors.compactMap(Origin.init(url:)),
            directory: record.request.directory,
            hasFile: record.file != nil
        )
        settings = coordinator.holds.settings.onSettings
        let deadline = coordinator.retries.deadline(of: record.id)
        if case .waiting(.retry(let end)) = record.state {
            let time = coordinator.time
            wait = deadline.map { $0 - time.now } ?? end.since(time.date)
        } else {
            wait = .zero
        }
        let running = try await coordinator.counts()[.downloading]
        slots = (running, coordinator.slots.count, coordinator.slots.stuckCount)
        fullHost = coordinator.slots.running[record.id]?.fullHost
        let engine = coordinator.engine
        // A disk that is busy with one task's sync may still take another task's bytes.
        isDiskStuck =
            task.live?.bytesPerSecond ?? 0 == 0
            && [record.request.directory, record.destination?.directory].contains {
                $0.map { coordinator.slots.isStuck(record.id, in: $0, on: engine.disk) } == true
            }
        if let needed = record.failure?.neededSpace, record.state == .waiting(.space),
            // Explain is answered soon, even if the disk hangs.
            let free = await engine.look(
                in: record.request.directory,
                .milliseconds(300),
                { await engine.freeSpace(in: record.request.directory)?.bytes }
            ) ?? nil
        {
            // A disk without inodes counts as one without free bytes: how many it lacks is unknown.
            missingSpace = free > 0 && free < needed ? needed - free : nil
        } else {
            missingSpace = nil
        }
    }

    /// One or two reasons; none for a task that makes progress, or whose file is complete.
    var reasons: [Reason] {
        if record.isMoving, record.state.kind == .waiting || record.state == .downloading {
            return [.moving] + disk
        }
        return switch record.state {
        case .downloading: disk + [fullHost.map { .hostFull($0.host) }].compactMap(\.self)
        case .completed: record.failure.map { [.failed($0, of: record.id)] } ?? []
        case .paused: [.paused]
        case .cancelled: [.cancelled]
        case .failed: [.failed(record.failure, of: record.id)]
        case .waiting(.queue):
            [
                isDiskStuck
                    ? .disk
                    : obstacleReason
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

    /// The pause that a server asked for at another task's request, if this task waits for that;
    /// nil where it waits for its own next try.
    private var hostRest: Reason? {
        // Without a failure, only such a pause makes a task wait for a next try.
        guard let failure = record.failure else { return .hostRests(for: wait, at: date) }
        guard failure.retryAfter == nil, case .hostRests(let rest) = obstacle,
            // The two times were measured at slightly different moments.
            rest > wait - .seconds(1)
        else { return nil }
        return .hostRests(for: max(rest, wait), at: date)
    }

    /// When a task in back-off is given up; nil where it never is.
    private var end: Reason? {
        guard record.tries > 0 || record.waited > .zero else { return nil }
        // The time for tries is over: the next failure is the last.
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
        case .hold(.offline, _): .offline
        case .hold(.metered, _): .metered
        case .hold(.battery, _): .battery
        case .hold(.settings, _): .settings(settings)
        case .hold(.space, _): .space(missing: nil)
        case .hold(.queue, _), .hold(.retry, _): nil
        case .hostRests(let rest): .hostRests(for: rest, at: date)
        }
    }
}
