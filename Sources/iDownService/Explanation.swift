// SPDX-License-Identifier: Apache-2.0

import Executors
import iDownData
import iDownState
import iDownloader

// Why a task makes no progress (contract, Explain and ExplainCodes).
extension Coordinator {
    /// Returns one or two reasons why a task makes no progress; none for a task that does, or whose
    /// file is complete.
    func reasons(for id: TaskID) async throws -> [Reason] {
        let task = try await task(id)
        let record = task.record
        let disk: [Reason] = isDiskStuck(for: task) ? [.disk] : []
        if record.isMoving, record.state.kind == .waiting || record.state == .downloading {
            return [.moving] + disk
        }
        switch record.state {
        case .downloading: return disk
        case .completed: return record.failure.map { [.failed($0, of: id)] } ?? []
        case .paused: return [.paused]
        case .cancelled: return [.cancelled]
        case .failed: return [.failed(record.failure, of: id)]
        case .waiting(.queue):
            guard disk.isEmpty else { return disk }
            if let obstacle = obstacle(to: record) { return [reason(of: obstacle)] }
            let running = try await counts()[.downloading]
            return [.queue(running: running, slots: slots.count, stuck: slots.stuck)]
        case .waiting(.retry(let end)):
            let wait = retries.deadline(of: id).map { $0 - time.now } ?? end.since(time.date)
            let own = Reason.retry(after: wait, at: time.date, of: record.failure)
            let last = lastTry(of: record, after: wait)
            return [hostRest(for: record, wait) ?? own] + (last.map { [$0] } ?? [])
        case .waiting(.offline): return [.offline]
        case .waiting(.metered): return [.metered]
        case .waiting(.battery): return [.battery]
        case .waiting(.space): return [.space(missing: await missingSpace(for: record))]
        case .waiting(.settings): return [.settings(holds.settings.onSettings)]
        }
    }

    /// Returns whether a disk that the task needs has not answered for ``Slots/longestSilence``.
    private func isDiskStuck(for task: TaskSnapshot) -> Bool {
        let record = task.record
        // A disk that is busy with one task's sync may still take another task's bytes.
        return task.live?.bytesPerSecond ?? 0 == 0
            && [record.request.directory, record.destination?.directory].contains {
                $0.map { slots.isStuck(record.id, in: $0, on: engine.disk) } == true
            }
    }

    /// Returns what keeps a queued task from starting although a slot may be free.
    private func obstacle(to record: TaskRecord) -> Obstacle? {
        holds.surroundings(in: self)().obstacle(
            for: record.request.origin,
            mirrors: record.request.mirrors.compactMap(Origin.init(url:)),
            directory: record.request.directory,
            hasFile: record.file != nil
        )
    }

    private func reason(of obstacle: Obstacle) -> Reason {
        switch obstacle {
        case .offline: .offline
        case .metered: .metered
        case .batteryLow: .battery
        case .wrongSettings: .settings(holds.settings.onSettings)
        case .diskFull: .space(missing: nil)
        case .hostRests(let rest): .hostRests(for: rest, at: time.date)
        }
    }

    /// Returns how many bytes the disk lacks; nil where that is unknown, or it has room by now.
    private func missingSpace(for record: TaskRecord) async -> Int64? {
        guard let needed = record.failure?.neededSpace else { return nil }
        let engine = engine
        // Explain is answered soon, even if the disk hangs.
        let free = await withTimeLimit(.milliseconds(300)) {
            await engine.freeSpace(in: record.request.directory)?.bytes
        }
        return (free ?? nil).flatMap { $0 < needed ? needed - $0 : nil }
    }

    /// Returns the pause that a server asked for at another task's request, if this task waits for
    /// that; nil where it waits for its own next try.
    private func hostRest(for record: TaskRecord, _ wait: Duration) -> Reason? {
        // Without a failure, only such a pause makes a task wait for a next try.
        guard let failure = record.failure else { return .hostRests(for: wait, at: time.date) }
        guard failure.retryAfter == nil, case .hostRests(let rest) = obstacle(to: record),
            // The two times were measured at slightly different moments.
            rest > wait - .seconds(1)
        else { return nil }
        return .hostRests(for: max(rest, wait), at: time.date)
    }

    /// Returns when a task in back-off is given up; nil where it never is.
    private func lastTry(of record: TaskRecord, after wait: Duration) -> Reason? {
        guard record.tries > 0 || record.waited > .zero else { return nil }
        // The time for tries is over: the next failure is the last.
        if record.stretch.left == .zero { return .givesUp(afterTries: 1) }
        let failure = record.failure ?? Failure(.serverBusy, "")
        if let tries = record.stretch.triesLeft(after: failure) {
            return .givesUp(afterTries: tries)
        }
        return record.stretch.left.map { .givesUp(after: $0 + max(.zero, wait), at: time.date) }
    }
}
