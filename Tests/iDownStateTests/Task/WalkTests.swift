// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

/// What holds after every sequence of up to six inputs.
@Suite struct WalkTests {
    /// From a task that was just added, from one that downloads, and from one that is finished.
    private static let walks = Result {
        try [Situation.queued, .downloading, .completed].map {
            Walk(from: try $0.walkStart(), length: 6)
        }
    }

    /// Holds a rule against every step, and shows the first that breaks it.
    private func expectOfEveryStep(
        _ rule: (Walk.Step) -> Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let broken = try Self.walks.get().lazy.flatMap(\.steps).first { !rule($0) }
        guard let step = broken else { return }
        Issue.record(
            """
            \(step.input)
            from \(step.before.record)
            to \(step.after.record)
            with \(step.effects)
            """,
            sourceLocation: sourceLocation
        )
    }

    @Test func `the walk comes everywhere`() throws {
        let nodes = try Self.walks.get().flatMap(\.reached)
        let states = Set(nodes.map(\.record.state.kind))
        #expect(states == Set(TaskState.Kind.allCases))
        for situation in Situation.allCases {
            let record = try situation.record()
            let isReached = nodes.contains {
                $0.record.state.kind == record.state.kind && $0.record.intent == record.intent
                    && ($0.record.file == nil) == (record.file == nil)
            }
            #expect(isReached, "\(situation)")
        }
    }

    // MARK: Effects

    @Test func `what is told was written before`() throws {
        try expectOfEveryStep { step in
            let written = step.effects.firstIndex { $0 == .persist || $0 == .erase } ?? .max
            let told = step.effects.firstIndex { $0 == .announce || $0 == .announceRemoved }
            return told.map { written < $0 } ?? true
        }
    }

    @Test func `a decision is written first and once, before anything is done about it`() throws {
        try expectOfEveryStep { step in
            guard let first = step.effects.first else { return true }
            let writing = step.effects.filter { $0 == .persist || $0 == .erase }
            return (first == .persist || first == .erase) && writing.count == 1
        }
    }

    @Test func `whatever changes is written, and what is refused changes nothing`() throws {
        try expectOfEveryStep { step in
            step.before.record == step.after.record
                || (step.effects.contains(.persist) && step.refusal == nil)
        }
    }

    @Test func `every change of state is told, but for the last one of a removed task`() throws {
        try expectOfEveryStep { step in
            step.before.record.state == step.after.record.state
                || step.effects.contains(.announce) || step.after.record.intent == .remove
        }
    }

    @Test func `a task that is being removed is not heard of until it is gone`() throws {
        try expectOfEveryStep { step in
            step.after.record.intent != .remove || !step.effects.contains(.announce)
        }
    }

    @Test func `a removal is told when it is decided, and only then`() throws {
        try expectOfEveryStep { step in
            let isDecided = step.command == .remove && step.refusal == nil
            return step.effects.contains(.announceRemoved) == isDecided
        }
    }

    @Test func `a back-off has its timer, and nothing else has one`() throws {
        try expectOfEveryStep { step in
            let hasTimer = step.effects.contains {
                if case .scheduleRetry = $0 { return true }
                return false
            }
            guard case .waiting(.retry) = step.after.record.state else { return !hasTimer }
            // The next try of the deletion ends the wait.
            if case .deletionFailed = step.event { return !hasTimer }
            let isNew = step.before.record.state != step.after.record.state
            return hasTimer == (isNew || step.event == .serviceStarted)
        }
    }

    @Test func `a slot that is given back is filled, unless it was taken away`() throws {
        try expectOfEveryStep { step in
            let wasFreed =
                step.before.record.state == .downloading
                && step.after.record.state != .downloading
            guard wasFreed, step.event != .displaced, step.event != .serviceStarted else {
                return true
            }
            return step.effects.contains(.fillSlots)
        }
    }

    @Test func `a task that can start once more asks for a slot`() throws {
        try expectOfEveryStep { step in
            let (before, after) = (step.before.record, step.after.record)
            guard !before.canStart, after.canStart else { return true }
            guard step.event != .displaced, step.event != .serviceStarted else { return true }
            return step.effects.contains(.fillSlots)
        }
    }

    // MARK: Transfers

    @Test func `a transfer starts only from the queue, under the next number`() throws {
        try expectOfEveryStep { step in
            for case .startTransfer(let number) in step.effects {
                let (before, after) = (step.before.record, step.after.record)
                guard before.state == .waiting(.queue), after.state == .downloading,
                    number == before.attempt.next, number == after.attempt
                else { return false }
            }
            return true
        }
    }

    @Test func `no transfer starts while a file is being deleted`() throws {
        try expectOfEveryStep { step in
            for case .startTransfer in step.effects
            where step.before.record.isDeleting || step.after.record.isDeleting {
                return false
            }
            return true
        }
    }

    @Test func `at most one transfer lives, and only while the task downloads`() throws {
        try expectOfEveryStep { step in
            for case .startTransfer in step.effects where step.before.live != nil { return false }
            let lives = step.after.live == step.after.record.attempt
            return lives == (step.after.record.state == .downloading)
        }
    }

    @Test func `only the transfer that lives is stopped`() throws {
        try expectOfEveryStep { step in
            for case .stopTransfer(let number) in step.effects where number != step.before.live {
                return false
            }
            return true
        }
    }

    // MARK: States

    @Test func `a task goes only where TaskState says`() throws {
        let successors: [TaskState.Kind: Set<TaskState.Kind>] = [
            .waiting: [.downloading, .paused, .cancelled],
            .downloading: [.waiting, .paused, .completed, .failed, .cancelled],
            .paused: [.waiting, .cancelled],
            .failed: [.waiting, .cancelled],
            .completed: [.waiting],
            .cancelled: [.waiting],
        ]
        try expectOfEveryStep { step in
            let (from, to) = (step.before.record.state.kind, step.after.record.state.kind)
            // The one way past the list: the file has had its name, and nobody could say so.
            if to == .completed, case .publish = step.before.record.intent { return true }
            return from == to || successors[from, default: []].contains(to)
        }
    }

    @Test func `what is over or paused moves by a verb only`() throws {
        try expectOfEveryStep { step in
            switch step.before.record.state {
            case .completed, .failed, .cancelled, .paused:
                // The file is looked at for a verb; and what completes a task may come late.
                step.event == nil || step.hasFoundFile
                    || step.after.record.state == step.before.record.state
            case .waiting, .downloading: true
            }
        }
    }

    @Test func `a completed task is whole, dated and without failure or intent`() throws {
        try expectOfEveryStep { step in
            let record = step.after.record
            guard record.state == .completed else {
                return record.integrity == nil && record.finishedAt == nil
            }
            return record.integrity != nil && record.finishedAt != nil && record.intent == nil
                && record.failure == nil && record.tries == 0 && record.file != nil
                && record.segments.covers(record.remote.total ?? .max)
        }
    }

    @Test func `a verb that restarts a task forgets its failures`() throws {
        try expectOfEveryStep { step in
            guard step.command == .resume || step.command == .retry, !step.effects.isEmpty else {
                return true
            }
            let record = step.after.record
            return record.failure == nil && record.tries == 0
                && record.stretchStart == record.segments.byteCount
        }
    }

    // MARK: Files

    @Test func `bytes are given up only where they are lost or worth nothing`() throws {
        try expectOfEveryStep { step in
            let (before, after) = (step.before.record, step.after.record)
            let isKept = before.segments.ranges.allSatisfy { range in
                after.segments.ranges.contains { $0.first <= range.first && range.end <= $0.end }
            }
            if isKept { return true }
            switch step.input {
            case .event(.partialFound), .event(.partialDeleted), .event(.transfer(.opened, _)),
                .event(.transfer(.arrived, _)):
                return true
            case .event(.transfer(.failed(let failure), _)):
                return failure.code.spoilsContent
            case .command(.retry):
                return before.state == .completed || before.failure?.code.spoilsContent == true
            case .command(.resume):
                return before.failure?.code.spoilsContent == true
            case .command, .event:
                return false
            }
        }
    }

    @Test func `without a file there are no bytes and nothing to publish`() throws {
        try expectOfEveryStep { step in
            let record = step.after.record
            guard record.file == nil else { return true }
            if case .publish = record.intent { return false }
            return record.segments.isEmpty && record.stretchStart == 0
        }
    }

    @Test func `that a file may have its name is forgotten only by who has looked at it`() throws {
        try expectOfEveryStep { step in
            guard case .publish = step.before.record.intent, step.after.record.intent == nil else {
                return true
            }
            return switch step.event {
            case .publicationFound, .partialFound, .transfer(.completed, _), .transfer(.opened, _):
                true
            // Before it has a name it is held against its digests.
            case .transfer(.failed(let failure), _): failure.code.spoilsContent
            case .transfer, .slotGranted, .displaced, .held, .released, .retryDue, .networkBack,
                .serviceStarted, .partialDeleted, .deletionFailed, .verified, .move,
                .leftoverDeleted, nil:
                false
            }
        }
    }

    @Test func `what may be complete is not deleted`() throws {
        try expectOfEveryStep { step in
            guard case .publish = step.before.record.intent else { return true }
            return !step.effects.contains(.deletePartial) && !step.effects.contains(.erase)
        }
    }

    @Test func `a task is erased when nothing of it is on disk that is not the user's`() throws {
        try expectOfEveryStep { step in
            guard step.effects.contains(.erase) else { return true }
            let record = step.before.record
            if record.intent == .remove { return step.event == .partialDeleted }
            guard step.command == .remove else { return false }
            return record.state == .completed
                || (record.file == nil && record.state != .downloading)
        }
    }

    @Test func `a deletion is intended before it is ordered`() throws {
        try expectOfEveryStep { step in
            guard let deletion = step.effects.firstIndex(of: .deletePartial) else { return true }
            let intent = step.after.record.intent
            return (intent == .discard || intent == .remove)
                && (step.effects.firstIndex(of: .persist) ?? .max) < deletion
        }
    }
}

extension TaskRecord {
    fileprivate var canStart: Bool { state == .waiting(.queue) && !isDeleting }
}

extension Walk.Step {
    /// The file of an open publication turned out to have its name.
    fileprivate var hasFoundFile: Bool {
        guard case .publish = before.record.intent else { return false }
        return after.record.state == .completed
    }
}

extension Situation {
    /// The situation as the walk may find it: a task that downloads does so with a live transfer.
    fileprivate func walkStart() throws -> TaskRecord {
        var record = try record()
        if self == .downloading { record.state = .waiting(.queue) }
        return record
    }
}
