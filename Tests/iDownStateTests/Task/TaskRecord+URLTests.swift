// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

/// A fresh link, in every situation.
@Suite struct TaskRecordURLTests {
    enum Outcome: Sendable {
        case becomes(TaskState, [Effect])
        case refused(Refusal)
    }

    private static let fresh = "https://host/file.iso?token=2"
    private static let restart = Outcome.becomes(
        .waiting(.queue),
        [.persist, .announce, .fillSlots]
    )
    private static let stop = Outcome.becomes(
        .downloading,
        [
            .persist, .stopTransfer(Sample.attempt), .announce,
            .startTransfer(Sample.attempt.next),
        ]
    )
    private static let paused = Outcome.becomes(.paused, [.persist, .announce])
    private static let queued = Outcome.becomes(.waiting(.queue), [.persist, .announce])

    static func outcome(in situation: Situation) -> Outcome {
        switch situation {
        case .queued, .queuedWithBytes, .queuedWhileDiscarding, .publicationInterrupted: queued
        case .backingOff, .offline, .metered, .drained, .withoutSpace, .withoutSettings,
            .failed, .spoiled, .publicationUntold, .publicationFailed:
            restart
        case .connecting, .downloading: stop
        case .paused, .pausedWithBytes, .pausedWhileDiscarding: paused
        case .publishing: .refused(.publishing)
        case .completed: .refused(.keepsOption(.url, .completed))
        case .cancelled, .discarding: .refused(.keepsOption(.url, .cancelled))
        case .removing: .refused(.gone)
        }
    }

    @Test(arguments: Situation.allCases)
    func `a fresh link is taken by what is unfinished`(situation: Situation) throws {
        let before = try situation.record()
        var after = before
        switch Self.outcome(in: situation) {
        case .becomes(let state, let effects):
            #expect(try after.setURL(Self.fresh, isSameOrigin: true) == effects)
            #expect(after.state == state)
            #expect(after.request.url == Self.fresh)
            #expect(after.intent == before.intent)
            if before.failure?.code.spoilsContent != true {
                #expect(after.segments == before.segments)
                #expect(after.remote.needsProof)
            }
        case .refused(let refusal):
            #expect(throws: refusal) { try after.setURL(Self.fresh, isSameOrigin: true) }
            #expect(after == before)
        }
    }

    @Test(arguments: Situation.allCases)
    func `the same link again is nothing new, but for a task that failed`(
        situation: Situation
    ) throws {
        let before = try situation.record()
        guard case .becomes = Self.outcome(in: situation) else { return }
        var after = before
        let effects = try after.setURL(before.request.url, isSameOrigin: true)
        #expect(after.remote.needsProof == false)
        if before.state == .failed {
            #expect(effects == [.persist, .announce, .fillSlots])
        } else {
            #expect(effects.isEmpty)
            #expect(after == before)
        }
    }

    @Test func `what was given for one origin does not go to another`() throws {
        var record = try Situation.paused.record()
        record.request.headers = [HeaderField(name: "Cookie", value: "secret")]
        record.request.referrer = "https://host/page"
        var same = record
        _ = try same.setURL(Self.fresh, isSameOrigin: true)
        #expect(same.request.headers == record.request.headers)
        #expect(same.request.referrer == record.request.referrer)
        _ = try record.setURL("https://other/file.iso", isSameOrigin: false)
        #expect(record.request.headers.isEmpty)
        #expect(record.request.referrer == nil)
    }

    @Test func `a link of the same origin without a login keeps the old one's`() throws {
        var record = try Situation.paused.record()
        record.request.url = "https://user:p%40ss@host/old.iso"
        var same = record
        #expect(try same.setURL("https://host/old.iso", isSameOrigin: true).isEmpty)
        #expect(same == record)
        _ = try same.setURL("https://host/new.iso?a@b", isSameOrigin: true)
        #expect(same.request.url == "https://user:p%40ss@host/new.iso?a@b")
        _ = try same.setURL("https://other@host/new.iso", isSameOrigin: true)
        #expect(same.request.url == "https://other@host/new.iso")
        _ = try record.setURL("https://elsewhere/new.iso", isSameOrigin: false)
        #expect(record.request.url == "https://elsewhere/new.iso")
    }

    @Test func `what the old host could not do is not held against the new one`() throws {
        var record = try Situation.failed.record()
        record.remote.refusesRanges = true
        record.remote.dislikesIfRange = true
        _ = try record.setURL(Self.fresh, isSameOrigin: false)
        #expect(!record.remote.refusesRanges && !record.remote.dislikesIfRange)
        #expect(
            Ask.first(for: record.segments, of: record.remote)
                == .overlap(
                    from: Sample.half - OverlapProof.overlap,
                    resumingAt: Sample.half,
                    to: nil
                )
        )
    }
}
