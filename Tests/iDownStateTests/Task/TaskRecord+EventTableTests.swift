// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

/// What happens to a task by itself: a row for every situation and event.
@Suite struct TaskRecordEventTableTests {
    enum Happening: String, CaseIterable, Sendable {
        case slotGranted, displaced, retryDue, networkBack, serviceStarted
        case partialWhole, partialShort, partialGone, publicationFound, partialDeleted
        case answered, opened, arrived, checkpointed, listed, publishing, completed
        case failedForNow, failedForGood, failedSpoiling, vanished, diskFilled, disconnected
        case postponed, heldBack, heldOffline, metered, drained, wrongSettings, released

        func event(of attempt: AttemptNumber) -> Event {
            switch self {
            case .slotGranted: .slotGranted(order: 9)
            case .displaced: .displaced
            case .retryDue: .retryDue
            case .networkBack: .networkBack
            case .serviceStarted: .serviceStarted
            case .partialWhole: .partialFound(size: Sample.total)
            case .partialShort: .partialFound(size: 1 << 20)
            case .partialGone: .partialFound(size: nil)
            case .publicationFound: .publicationFound(name: Sample.name, size: Sample.total)
            case .partialDeleted: .partialDeleted
            case .answered: .transfer(.answered(Sample.otherOffer, of: Sample.url), of: attempt)
            case .opened:
                .transfer(
                    .opened(Sample.otherFile, Sample.otherRemote, keeping: Sample.first(1)),
                    of: attempt
                )
            case .arrived: .transfer(.arrived(Sample.otherFile, Sample.otherRemote), of: attempt)
            case .checkpointed: .transfer(.checkpointed(Sample.first(Sample.total)), of: attempt)
            case .listed: .transfer(.listed(Sample.listedTasks), of: attempt)
            case .publishing: .transfer(.publishing(name: Sample.otherName), of: attempt)
            case .completed:
                .transfer(
                    .completed(name: Sample.name, size: Sample.total, .checksum),
                    of: attempt
                )
            case .failedForNow: .transfer(.failed(Sample.reset), of: attempt)
            case .failedForGood: .transfer(.failed(Sample.missing), of: attempt)
            case .failedSpoiling: .transfer(.failed(Sample.mismatch), of: attempt)
            case .vanished: .transfer(.failed(Sample.vanished), of: attempt)
            case .diskFilled: .transfer(.failed(Sample.full), of: attempt)
            case .disconnected:
                .transfer(.held(by: .hold(.offline, after: Sample.noName)), of: attempt)
            case .postponed: .transfer(.held(by: .hostRests(for: .seconds(1))), of: attempt)
            case .heldBack: .held(by: .hostRests(for: .seconds(1)))
            case .heldOffline: .held(by: .hold(.offline))
            case .metered: .held(by: .hold(.metered))
            case .drained: .held(by: .hold(.battery))
            case .wrongSettings: .held(by: .hold(.settings))
            case .released: .released
            }
        }

        var isOfTransfer: Bool {
            if case .transfer = event(of: .none) { return true }
            return false
        }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let situation: Situation
        let happening: Happening
        /// Nil: the event is dropped.
        var becomes: (state: TaskState, intent: Intent?, effects: [Effect])?

        var testDescription: String { "\(situation), \(happening)" }
    }

    private static func row(
        _ situation: Situation,
        _ happening: Happening,
        _ state: TaskState,
        _ effects: [Effect],
        intent: Intent? = nil
    ) -> Row {
        Row(situation: situation, happening: happening, becomes: (state, intent, effects))
    }

    private static let queue = TaskState.waiting(.queue)
    private static let backOff = TaskState.waiting(.retry(at: Sample.deadline))
    private static let retry = TaskState.waiting(.retry(at: Sample.now.advanced(by: .seconds(1))))
    private static let offline = TaskState.waiting(.offline)
    private static let meter = TaskState.waiting(.metered)
    private static let battery = TaskState.waiting(.battery)
    private static let space = TaskState.waiting(.space)
    private static let settings = TaskState.waiting(.settings)
    private static let publish = Intent.publish(name: Sample.name)
    private static let publishOther = Intent.publish(name: Sample.otherName)
    private static let stop = Effect.stopTransfer(Sample.attempt)
    private static let start = Effect.startTransfer(Sample.attempt.next)
    private static let told: [Effect] = [.persist, .announce]
    private static let toldLater: [Effect] = [.persist, .announceLater, .fillSlots]
    private static let named: [Effect] = [.persist, .fillSlots]
    private static let freed: [Effect] = [.persist, .announce, .fillSlots]
    private static let stopped: [Effect] = [.persist, stop, .announce, .fillSlots]
    private static let stoppedForNow: [Effect] = [
        .persist, stop, .announce, .scheduleRetry(after: .seconds(1)), .fillSlots,
    ]
    private static let retried: [Effect] = [
        .persist, .announce, .scheduleRetry(after: .seconds(1)), .fillSlots,
    ]

    /// The pairs that change something; in every other one the event is dropped.
    static let consequences: [Row] = [
        row(.queued, .slotGranted, .downloading, told + [.startTransfer(AttemptNumber.none.next)]),

        row(.queued, .heldBack, retry, told + [.scheduleRetry(after: .seconds(1))]),
        row(.queued, .heldOffline, offline, told),
        row(.queued, .metered, meter, told),
        row(.queued, .drained, battery, told),
        row(.queued, .wrongSettings, settings, told),

        row(.queuedWithBytes, .heldBack, retry, told + [.scheduleRetry(after: .seconds(1))]),
        row(.queuedWithBytes, .heldOffline, offline, told),
        row(.queuedWithBytes, .metered, meter, told),
        row(.queuedWithBytes, .drained, battery, told),
        row(.queuedWithBytes, .wrongSettings, settings, told),
        row(.queuedWithBytes, .slotGranted, .downloading, told + [start]),
        row(.queuedWithBytes, .partialShort, queue, told),
        row(.queuedWithBytes, .partialGone, queue, told),
        row(.queuedWithBytes, .checkpointed, queue, told),

        row(.backingOff, .retryDue, queue, freed),
        row(.backingOff, .networkBack, queue, freed),
        row(
            .backingOff,
            .serviceStarted,
            backOff,
            [.persist, .announce, .scheduleRetry(after: .seconds(10))]
        ),
        row(.backingOff, .partialShort, backOff, told),
        row(.backingOff, .partialGone, backOff, told),
        row(.backingOff, .checkpointed, backOff, told),

        row(.offline, .released, queue, freed),
        row(.offline, .serviceStarted, queue, told),
        row(.offline, .partialShort, offline, told),
        row(.offline, .partialGone, offline, told),
        row(.offline, .checkpointed, offline, told),

        row(.metered, .released, queue, freed),
        row(.metered, .serviceStarted, queue, told),
        row(.metered, .partialShort, meter, told),
        row(.metered, .partialGone, meter, told),
        row(.metered, .checkpointed, meter, told),

        row(.drained, .released, queue, freed),
        row(.drained, .serviceStarted, queue, told),
        row(.drained, .partialShort, battery, told),
        row(.drained, .partialGone, battery, told),
        row(.drained, .checkpointed, battery, told),

        row(.withoutSpace, .released, queue, freed),
        row(.withoutSpace, .serviceStarted, queue, told),
        row(.withoutSpace, .partialShort, space, told),
        row(.withoutSpace, .partialGone, space, told),
        row(.withoutSpace, .checkpointed, space, told),

        row(.withoutSettings, .released, queue, freed),
        row(.withoutSettings, .serviceStarted, queue, told),
        row(.withoutSettings, .partialShort, settings, told),
        row(.withoutSettings, .partialGone, settings, told),
        row(.withoutSettings, .checkpointed, settings, told),

        row(.connecting, .displaced, queue, [.persist, stop, .announce]),
        row(.connecting, .heldBack, retry, stoppedForNow),
        row(.connecting, .heldOffline, offline, stopped),
        row(.connecting, .metered, meter, stopped),
        row(.connecting, .drained, battery, stopped),
        row(.connecting, .wrongSettings, settings, stopped),
        row(.connecting, .serviceStarted, queue, told),
        row(.connecting, .answered, .downloading, told),
        row(.connecting, .opened, .downloading, told),
        row(.connecting, .listed, .downloading, told),
        row(.connecting, .arrived, .downloading, toldLater, intent: publishOther),
        row(.connecting, .failedForNow, retry, retried),
        row(.connecting, .failedForGood, .failed, freed),
        row(.connecting, .failedSpoiling, .failed, freed),
        row(.connecting, .vanished, .failed, freed),
        row(.connecting, .diskFilled, space, freed),
        row(.connecting, .disconnected, offline, freed),
        row(.connecting, .postponed, retry, retried),

        row(.downloading, .displaced, queue, [.persist, stop, .announce]),
        row(.downloading, .heldBack, retry, stoppedForNow),
        row(.downloading, .heldOffline, offline, stopped),
        row(.downloading, .metered, meter, stopped),
        row(.downloading, .drained, battery, stopped),
        row(.downloading, .wrongSettings, settings, stopped),
        row(.downloading, .serviceStarted, queue, told),
        row(.downloading, .opened, .downloading, told),
        row(.downloading, .checkpointed, .downloading, [.persist]),
        row(.downloading, .listed, .downloading, told),
        row(.downloading, .publishing, .downloading, named, intent: publishOther),
        row(.downloading, .arrived, .downloading, toldLater, intent: publishOther),
        row(.downloading, .failedForNow, retry, retried),
        row(.downloading, .failedForGood, .failed, freed),
        row(.downloading, .failedSpoiling, .failed, freed),
        row(.downloading, .vanished, .failed, freed),
        row(.downloading, .diskFilled, space, freed),
        row(.downloading, .disconnected, offline, freed),
        row(.downloading, .postponed, retry, retried),

        row(.publishing, .serviceStarted, queue, told, intent: publish),
        row(.publishing, .listed, .downloading, told, intent: publish),
        row(.publishing, .publishing, .downloading, named, intent: publishOther),
        row(.publishing, .checkpointed, .downloading, [.persist], intent: publish),
        row(.publishing, .completed, .completed, freed),
        row(.publishing, .arrived, .downloading, toldLater, intent: publishOther),
        // It has looked: an earlier attempt did not give the file its name.
        row(.publishing, .opened, .downloading, told),
        // The file may have its name, whatever went wrong then.
        row(.publishing, .failedForNow, retry, retried, intent: publish),
        row(.publishing, .failedForGood, .failed, freed, intent: publish),
        row(.publishing, .failedSpoiling, .failed, freed),
        row(.publishing, .vanished, .failed, freed, intent: publish),
        row(.publishing, .diskFilled, space, freed, intent: publish),
        row(.publishing, .disconnected, offline, freed, intent: publish),
        row(.publishing, .postponed, retry, retried, intent: publish),

        row(.publicationInterrupted, .slotGranted, .downloading, told + [start], intent: publish),
        row(
            .publicationInterrupted,
            .heldBack,
            retry,
            told + [.scheduleRetry(after: .seconds(1))],
            intent: publish
        ),
        row(.publicationInterrupted, .heldOffline, offline, told, intent: publish),
        row(.publicationInterrupted, .metered, meter, told, intent: publish),
        row(.publicationInterrupted, .drained, battery, told, intent: publish),
        row(.publicationInterrupted, .wrongSettings, settings, told, intent: publish),
        row(.publicationInterrupted, .partialWhole, queue, told),
        row(.publicationInterrupted, .partialShort, queue, told),
        row(.publicationInterrupted, .partialGone, queue, told),
        row(.publicationInterrupted, .publicationFound, .completed, freed),
        row(.publicationInterrupted, .checkpointed, queue, told, intent: publish),
        row(.publicationInterrupted, .completed, .completed, freed),

        row(.publicationUntold, .retryDue, queue, freed, intent: publish),
        row(
            .publicationUntold,
            .serviceStarted,
            backOff,
            [.persist, .announce, .scheduleRetry(after: .seconds(10))],
            intent: publish
        ),
        row(.publicationUntold, .partialWhole, backOff, told),
        row(.publicationUntold, .partialShort, backOff, told),
        row(.publicationUntold, .partialGone, backOff, told),
        row(.publicationUntold, .publicationFound, .completed, freed),
        row(.publicationUntold, .checkpointed, backOff, told, intent: publish),
        row(.publicationUntold, .completed, .completed, freed),

        row(.publicationFailed, .partialWhole, .failed, told),
        row(.publicationFailed, .partialShort, .failed, told),
        row(.publicationFailed, .partialGone, .failed, told),
        row(.publicationFailed, .publicationFound, .completed, freed),
        row(.publicationFailed, .checkpointed, .failed, told, intent: publish),
        row(.publicationFailed, .completed, .completed, freed),

        row(.paused, .answered, .paused, told),

        row(.pausedWithBytes, .partialShort, .paused, told),
        row(.pausedWithBytes, .partialGone, .paused, told),
        row(.pausedWithBytes, .checkpointed, .paused, told),

        row(.failed, .partialShort, .failed, told),
        row(.failed, .partialGone, .failed, told),
        row(.failed, .checkpointed, .failed, told),

        row(.spoiled, .partialShort, .failed, told),
        row(.spoiled, .partialGone, .failed, told),
        row(.spoiled, .checkpointed, .failed, told),

        row(.discarding, .partialDeleted, .cancelled, freed),
        row(.queuedWhileDiscarding, .partialDeleted, queue, freed),
        row(.pausedWhileDiscarding, .partialDeleted, .paused, freed),
        row(.removing, .partialDeleted, .cancelled, [.erase], intent: .remove),
    ]

    static let rows: [Row] = Situation.allCases.flatMap { situation in
        Happening.allCases.map { happening in
            consequences.first { $0.situation == situation && $0.happening == happening }
                ?? Row(situation: situation, happening: happening)
        }
    }

    @Test func `no pair stands twice in the table`() {
        let pairs = Self.consequences.map(\.testDescription)
        #expect(Set(pairs).count == pairs.count)
    }

    @Test(arguments: rows)
    func `an event does what the table says, or is dropped`(row: Row) throws {
        let before = try row.situation.record()
        var after = before
        let event = row.happening.event(of: before.attempt)
        let effects = after.apply(event, at: Sample.now, jitter: 1)
        guard let becomes = row.becomes else {
            #expect(effects.isEmpty)
            #expect(after == before)
            return
        }
        #expect(effects == becomes.effects)
        #expect(after.state == becomes.state)
        #expect(after.intent == becomes.intent)
    }

    @Test(arguments: Situation.allCases, Happening.allCases.filter(\.isOfTransfer))
    func `what another transfer says is dropped, but for what an older one has kept`(
        situation: Situation,
        happening: Happening
    ) throws {
        let before = try situation.record()
        let older = happening == .checkpointed ? [] : [Sample.olderAttempt]
        for number in older + [.none, before.attempt.next] {
            var after = before
            let event = happening.event(of: number)
            #expect(after.apply(event, at: Sample.now, jitter: 1).isEmpty)
            #expect(after == before)
        }
    }
}
