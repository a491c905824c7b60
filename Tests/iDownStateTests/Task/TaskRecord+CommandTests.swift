// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownState

/// The contract's state table, with the open intents and the holds written out.
@Suite struct TaskRecordCommandTests {
    enum Outcome: Sendable {
        /// Success, and nothing is different.
        case nothing
        case becomes(TaskState, [Effect], intent: Intent? = nil)
        /// The record is erased as it stands.
        case gone
        case refused(Refusal)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let situation: Situation
        let command: Command
        let outcome: Outcome

        init(_ situation: Situation, _ command: Command, _ outcome: Outcome) {
            self.situation = situation
            self.command = command
            self.outcome = outcome
        }

        var testDescription: String { "\(situation), \(command)" }
    }

    private static let stop = Effect.stopTransfer(Sample.attempt)
    private static let pause = Outcome.becomes(.paused, [.persist, .announce])
    private static let restart = Outcome.becomes(
        .waiting(.queue),
        [.persist, .announce, .fillSlots]
    )
    private static let discard = Outcome.becomes(
        .cancelled,
        [.persist, .announce, .deletePartial],
        intent: .discard
    )
    private static let remove = Outcome.becomes(
        .cancelled,
        [.persist, .announceRemoved, .deletePartial],
        intent: .remove
    )
    private static let restartDiscarding = Outcome.becomes(
        .waiting(.queue),
        [.persist, .announce, .fillSlots],
        intent: .discard
    )

    private static let pausePublishing = Outcome.becomes(
        .paused,
        [.persist, .announce],
        intent: .publish(name: Sample.name)
    )
    private static let restartPublishing = Outcome.becomes(
        .waiting(.queue),
        [.persist, .announce, .fillSlots],
        intent: .publish(name: Sample.name)
    )

    private static func invalid(_ command: Command, _ state: TaskState.Kind) -> Outcome {
        .refused(.invalidState(command, state))
    }

    static let rows: [Row] = [
        Row(.queued, .pause, pause),
        Row(.queued, .resume, .nothing),
        Row(.queued, .retry, .nothing),
        Row(.queued, .cancel, .becomes(.cancelled, [.persist, .announce])),
        Row(.queued, .remove, .gone),

        Row(.queuedWithBytes, .pause, pause),
        Row(.queuedWithBytes, .resume, .nothing),
        Row(.queuedWithBytes, .retry, .nothing),
        Row(.queuedWithBytes, .cancel, discard),
        Row(.queuedWithBytes, .remove, remove),

        Row(.backingOff, .pause, pause),
        Row(.backingOff, .resume, .nothing),
        Row(.backingOff, .retry, restart),
        Row(.backingOff, .cancel, discard),
        Row(.backingOff, .remove, remove),

        Row(.offline, .pause, pause),
        Row(.offline, .resume, .nothing),
        Row(.offline, .retry, restart),
        Row(.offline, .cancel, discard),
        Row(.offline, .remove, remove),
        Row(.metered, .pause, pause),
        Row(.metered, .resume, .nothing),
        Row(.metered, .retry, restart),
        Row(.metered, .cancel, discard),
        Row(.metered, .remove, remove),
        Row(.drained, .pause, pause),
        Row(.drained, .resume, .nothing),
        Row(.drained, .retry, restart),
        Row(.drained, .cancel, discard),
        Row(.drained, .remove, remove),

        Row(.withoutSpace, .pause, pause),
        Row(.withoutSpace, .resume, .nothing),
        Row(.withoutSpace, .retry, restart),
        Row(.withoutSpace, .cancel, discard),
        Row(.withoutSpace, .remove, remove),

        Row(.withoutSettings, .pause, pause),
        Row(.withoutSettings, .resume, .nothing),
        Row(.withoutSettings, .retry, restart),
        Row(.withoutSettings, .cancel, discard),
        Row(.withoutSettings, .remove, remove),

        Row(.connecting, .pause, .becomes(.paused, [.persist, stop, .announce, .fillSlots])),
        Row(.connecting, .resume, .nothing),
        Row(.connecting, .retry, .nothing),
        Row(.connecting, .cancel, .becomes(.cancelled, [.persist, stop, .announce, .fillSlots])),
        Row(
            .connecting,
            .remove,
            .becomes(
                .cancelled,
                [.persist, stop, .announceRemoved, .deletePartial, .fillSlots],
                intent: .remove
            )
        ),

        Row(.downloading, .pause, .becomes(.paused, [.persist, stop, .announce, .fillSlots])),
        Row(.downloading, .resume, .nothing),
        Row(.downloading, .retry, .nothing),
        Row(
            .downloading,
            .cancel,
            .becomes(
                .cancelled,
                [.persist, stop, .announce, .deletePartial, .fillSlots],
                intent: .discard
            )
        ),
        Row(
            .downloading,
            .remove,
            .becomes(
                .cancelled,
                [.persist, stop, .announceRemoved, .deletePartial, .fillSlots],
                intent: .remove
            )
        ),

        Row(.publishing, .pause, .refused(.publishing)),
        Row(.publishing, .resume, .refused(.publishing)),
        Row(.publishing, .retry, .refused(.publishing)),
        Row(.publishing, .cancel, .refused(.publishing)),
        Row(.publishing, .remove, .refused(.publishing)),

        // What would delete the file waits until it is known whether that is complete.
        Row(.publicationInterrupted, .pause, pausePublishing),
        Row(.publicationInterrupted, .resume, .nothing),
        Row(.publicationInterrupted, .retry, .nothing),
        Row(.publicationInterrupted, .cancel, .refused(.publishing)),
        Row(.publicationInterrupted, .remove, .refused(.publishing)),

        Row(.publicationUntold, .pause, pausePublishing),
        Row(.publicationUntold, .resume, .nothing),
        Row(.publicationUntold, .retry, restartPublishing),
        Row(.publicationUntold, .cancel, .refused(.publishing)),
        Row(.publicationUntold, .remove, .refused(.publishing)),

        Row(.publicationFailed, .pause, invalid(.pause, .failed)),
        Row(.publicationFailed, .resume, restartPublishing),
        Row(.publicationFailed, .retry, restartPublishing),
        Row(.publicationFailed, .cancel, .refused(.publishing)),
        Row(.publicationFailed, .remove, .refused(.publishing)),

        Row(.paused, .pause, .nothing),
        Row(.paused, .resume, restart),
        Row(.paused, .retry, restart),
        Row(.paused, .cancel, .becomes(.cancelled, [.persist, .announce])),
        Row(.paused, .remove, .gone),

        Row(.pausedWithBytes, .pause, .nothing),
        Row(.pausedWithBytes, .resume, restart),
        Row(.pausedWithBytes, .retry, restart),
        Row(.pausedWithBytes, .cancel, discard),
        Row(.pausedWithBytes, .remove, remove),

        Row(.failed, .pause, invalid(.pause, .failed)),
        Row(.failed, .resume, restart),
        Row(.failed, .retry, restart),
        Row(.failed, .cancel, discard),
        Row(.failed, .remove, remove),

        Row(.spoiled, .pause, invalid(.pause, .failed)),
        Row(.spoiled, .resume, restart),
        Row(.spoiled, .retry, restart),
        Row(.spoiled, .cancel, discard),
        Row(.spoiled, .remove, remove),

        Row(.completed, .pause, invalid(.pause, .completed)),
        Row(.completed, .resume, invalid(.resume, .completed)),
        Row(.completed, .retry, restart),
        Row(.completed, .cancel, invalid(.cancel, .completed)),
        Row(.completed, .remove, .gone),

        Row(.cancelled, .pause, invalid(.pause, .cancelled)),
        Row(.cancelled, .resume, restart),
        Row(.cancelled, .retry, restart),
        Row(.cancelled, .cancel, .nothing),
        Row(.cancelled, .remove, .gone),

        Row(.discarding, .pause, invalid(.pause, .cancelled)),
        Row(.discarding, .resume, restartDiscarding),
        Row(.discarding, .retry, restartDiscarding),
        Row(.discarding, .cancel, .nothing),
        Row(.discarding, .remove, remove),

        Row(
            .queuedWhileDiscarding,
            .pause,
            .becomes(.paused, [.persist, .announce], intent: .discard)
        ),
        Row(.queuedWhileDiscarding, .resume, .nothing),
        Row(.queuedWhileDiscarding, .retry, .nothing),
        Row(.queuedWhileDiscarding, .cancel, discard),
        Row(.queuedWhileDiscarding, .remove, remove),

        Row(.pausedWhileDiscarding, .pause, .nothing),
        Row(.pausedWhileDiscarding, .resume, restartDiscarding),
        Row(.pausedWhileDiscarding, .retry, restartDiscarding),
        Row(.pausedWhileDiscarding, .cancel, discard),
        Row(.pausedWhileDiscarding, .remove, remove),

        Row(.removing, .pause, .refused(.gone)),
        Row(.removing, .resume, .refused(.gone)),
        Row(.removing, .retry, .refused(.gone)),
        Row(.removing, .cancel, .refused(.gone)),
        Row(.removing, .remove, .refused(.gone)),
    ]

    @Test func `the table has one row for every situation and verb`() {
        let pairs = Self.rows.map(\.testDescription)
        #expect(pairs.count == Situation.allCases.count * Command.allCases.count)
        #expect(Set(pairs).count == pairs.count)
    }

    @Test(arguments: rows)
    func `a verb does what the contract's table says`(row: Row) throws {
        let before = try row.situation.record()
        var after = before
        switch row.outcome {
        case .nothing:
            #expect(try after.apply(row.command).isEmpty)
            #expect(after == before)
        case .becomes(let state, let effects, let intent):
            #expect(try after.apply(row.command) == effects)
            #expect(after.state == state)
            #expect(after.intent == intent)
        case .gone:
            #expect(try after.apply(row.command) == [.erase, .announceRemoved])
            #expect(after == before)
        case .refused(let refusal):
            #expect(throws: refusal) { try after.apply(row.command) }
            #expect(after == before)
        }
    }

    @Test(arguments: [Situation.queuedWithBytes, .backingOff, .downloading])
    func `a pause keeps the bytes and the last failure`(situation: Situation) throws {
        let before = try situation.record()
        var after = before
        _ = try after.apply(.pause)
        var expected = before
        expected.state = .paused
        #expect(after == expected)
    }

    @Test(
        arguments: [Situation.backingOff, .pausedWithBytes, .failed],
        [Command.resume, .retry]
    )
    func `a restart by a verb keeps the bytes and forgets the failures`(
        situation: Situation,
        command: Command
    ) throws {
        guard (situation, command) != (.backingOff, .resume) else { return }
        let before = try situation.record()
        var after = before
        _ = try after.apply(command)
        var expected = before
        expected.state = .waiting(.queue)
        expected.failure = nil
        expected.tries = 0
        expected.stretchStart = Sample.half
        #expect(after == expected)
    }

    @Test(arguments: Situation.allCases)
    func `a limit may be changed at any time, and changes nothing else`(
        situation: Situation
    ) throws {
        let before = try situation.record()
        var after = before
        guard situation != .removing else {
            #expect(throws: Refusal.gone) { try after.set { $0.speedLimit = 7 } }
            return
        }
        #expect(try after.set { $0.speedLimit = 7 } == [.persist, .limitSpeed(7), .announce])
        #expect(try after.set { $0.speedLimit = 7 }.isEmpty)
        var expected = before
        expected.speedLimit = 7
        #expect(after == expected)
    }

    @Test(arguments: Situation.allCases)
    func `the most connections may be changed at any time, and nothing else is`(
        situation: Situation
    ) throws {
        let before = try situation.record()
        var after = before
        guard situation != .removing else {
            #expect(throws: Refusal.gone) { try after.set { $0.connections = .some(7) } }
            return
        }
        #expect(
            try after.set { $0.connections = .some(7) } == [
                .persist, .limitConnections(7), .announce,
            ]
        )
        #expect(try after.set { $0.connections = .some(7) }.isEmpty)
        var expected = before
        expected.request.connections = 7
        #expect(after == expected)
        #expect(
            try after.set { $0.connections = .some(nil) } == [
                .persist, .limitConnections(nil), .announce,
            ]
        )
        #expect(after.request.connections == nil)
    }

    @Test(
        arguments: [FailureCode.checksumMismatch, .sizeMismatch, .serverContentChanged],
        [Command.resume, .retry]
    )
    func `after bytes that proved worthless a restart begins at zero`(
        code: FailureCode,
        command: Command
    ) throws {
        var record = try Situation.spoiled.record()
        record.failure?.code = code
        _ = try record.apply(command)
        #expect(record.segments.isEmpty)
        #expect(record.stretchStart == 0)
        #expect(record.remote == RemoteVersion())
        #expect(record.file == Sample.file)
        #expect(record.failure == nil)
    }

    @Test(arguments: [Command.resume, .retry])
    func `a wrong size in a head leaves the bytes that are there`(command: Command) throws {
        var record = try Situation.failed.record()
        record.failure = Failure(.sizeMismatch, "The file has 7 bytes")
        let segments = record.segments
        try #require(!segments.isEmpty && !segments.covers(Sample.total))
        _ = try record.apply(command)
        #expect(record.segments == segments)
        #expect(record.failure == nil)
    }

    @Test func `a completed task that is tried again lets go of its file`() throws {
        var record = try Situation.completed.record()
        record.request.onExisting = .fail
        _ = try record.apply(.retry)
        #expect(record.file == nil)
        // Its own first file stands in the way.
        #expect(record.request.onExisting == .rename)
        #expect(record.segments.isEmpty)
        #expect(record.remote == RemoteVersion())
        #expect(record.integrity == nil)
        #expect(record.finishedAt == nil)
        #expect(record.attempt == Sample.attempt)
    }

    @Test func `a cancelled task shows its last failure until it is restarted`() throws {
        var record = try Situation.failed.record()
        _ = try record.apply(.cancel)
        #expect(record.failure == Sample.missing)
        #expect(record.file == Sample.file)
    }
}

extension TaskRecord {
    /// Sets properties.
    fileprivate mutating func set(_ change: (inout TaskEdit) -> Void) throws(Refusal) -> [Effect] {
        var edit = TaskEdit()
        change(&edit)
        return try self.edit(edit, inAnyState: true)
    }
}
