// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownState

@Suite struct TaskRecordTransferEventTests {
    /// Has the sample's own transfer report something.
    @discardableResult
    private func report(
        _ event: TransferEvent,
        to record: inout TaskRecord,
        jitter: Double = 1
    ) -> [Effect] {
        record.apply(.transfer(event, of: record.attempt), at: Sample.now, jitter: jitter)
    }

    // MARK: Opened, checkpointed

    @Test func `an opened file and its version take the place of what was known`() throws {
        var record = try Situation.downloading.record()
        report(.opened(Sample.otherFile, Sample.otherRemote, keeping: SegmentMap()), to: &record)
        #expect(record.file == Sample.otherFile)
        #expect(record.remote == Sample.otherRemote)
        #expect(record.segments.isEmpty)
        #expect(record.stretchStart == Sample.half)
    }

    @Test func `an opened file may keep its bytes`() throws {
        var record = try Situation.downloading.record()
        record.stretchStart = 1
        report(.opened(Sample.file, Sample.otherRemote, keeping: record.segments), to: &record)
        #expect(record.segments == Sample.first(Sample.half))
        #expect(record.stretchStart == 1)
    }

    @Test(arguments: [Situation.connecting, .paused])
    func `an answer without a file is recorded, and has to be proven`(situation: Situation) throws {
        var record = try situation.record()
        for version in [Sample.offer, Sample.otherOffer] {
            report(.answered(version, of: record.request.url), to: &record)
            var unproven = version
            unproven.needsProof = true
            #expect(record.remote == unproven)
            #expect(record.file == nil)
        }
    }

    @Test func `what an answer only offered is forgotten with its link, and by a cancel`() throws {
        for endsByCancel in [false, true] {
            var record = try Situation.paused.record()
            report(.answered(Sample.offer, of: record.request.url), to: &record)
            #expect(record.remote.isOnRecord)
            if endsByCancel {
                _ = try record.apply(.cancel)
            } else {
                _ = record.takeLink("http://example.org/other", isSameOrigin: true)
            }
            #expect(!record.remote.isOnRecord)
        }
    }

    @Test func `an answer of the link that a task had before counts no more`() throws {
        var record = try Situation.paused.record()
        let asked = record.request.url
        _ = record.takeLink("http://example.org/other", isSameOrigin: true)
        #expect(report(.answered(Sample.offer, of: asked), to: &record).isEmpty)
        #expect(!record.remote.isOnRecord)
    }

    @Test func `an offer without a type is not recorded`() throws {
        var record = try Situation.paused.record()
        #expect(report(.answered(Sample.remote, of: record.request.url), to: &record).isEmpty)
        #expect(!record.remote.isOnRecord)
    }

    @Test func `a version that a browser has seen, or that has a file, stays`() throws {
        var record = try Situation.connecting.record()
        record.remote = Sample.remote
        for record in [record, try Situation.downloading.record()] {
            var after = record
            #expect(report(.answered(Sample.otherOffer, of: after.request.url), to: &after).isEmpty)
            #expect(after == record)
        }
    }

    @Test(arguments: [Situation.downloading, .queuedWithBytes, .pausedWithBytes, .backingOff])
    func `the last checkpoint of a stopped transfer counts too`(situation: Situation) throws {
        var record = try situation.record()
        report(.checkpointed(Sample.first(Sample.total)), to: &record)
        #expect(record.segments == Sample.first(Sample.total))
    }

    @Test func `a checkpoint without a file is dropped`() throws {
        var record = try Situation.connecting.record()
        #expect(report(.checkpointed(Sample.first(1)), to: &record).isEmpty)
        #expect(record.segments.isEmpty)
    }

    // MARK: Arrived

    @Test func `a file that arrived whole is about to get its name, and claims nothing yet`() throws
    {
        var record = try Situation.downloading.record()
        record.file = Sample.otherFile
        let remote = RemoteVersion(total: 20_000)
        let effects = report(.arrived(Sample.file, remote), to: &record)
        #expect(effects == [.persist, .announceLater, .fillSlots])
        #expect(record.file == Sample.file)
        #expect(record.remote == remote)
        #expect(record.segments.isEmpty)
        #expect(record.stretchStart == 0)
        #expect(record.intent == .publish(name: Sample.name))
    }

    @Test func `where that name is taken it is about to get the next`() throws {
        var record = try Situation.connecting.record()
        let remote = RemoteVersion(total: 20_000)
        report(.arrived(Sample.file, remote), to: &record)
        report(.arrived(Sample.otherFile, remote), to: &record)
        #expect(record.file == Sample.otherFile)
        #expect(record.intent == .publish(name: Sample.otherName))
    }

    // MARK: Listed

    @Test func `a metalink that is read again has the tasks of the last time only`() throws {
        var record = try Situation.downloading.record()
        report(.listed(Sample.listedTasks + [record.id]), to: &record)
        report(.listed(Sample.listedTasks), to: &record)
        #expect(record.listedTasks == Sample.listedTasks)
    }

    @Test func `a completed metalink keeps its tasks until it is downloaded again`() throws {
        var record = try Situation.publishing.record()
        report(.listed(Sample.listedTasks), to: &record)
        report(.completed(name: Sample.name, size: Sample.total, .checksum), to: &record)
        #expect(record.listedTasks == Sample.listedTasks)
        _ = try record.apply(.retry)
        #expect(record.listedTasks.isEmpty)
    }

    @Test func `a failed metalink that is tried again keeps its tasks`() throws {
        var record = try Situation.downloading.record()
        report(.listed(Sample.listedTasks), to: &record)
        report(.failed(Sample.missing), to: &record)
        _ = try record.apply(.retry)
        #expect(record.listedTasks == Sample.listedTasks)
    }

    // MARK: Completed

    @Test func `a published file completes the task and clears its failures`() throws {
        var record = try Situation.publishing.record()
        record.failure = Sample.reset
        record.tries = 3
        report(.completed(name: Sample.otherName, size: Sample.total, .checksum), to: &record)
        #expect(record.file?.name == Sample.otherName)
        #expect(record.integrity == .checksum)
        #expect(record.finishedAt == Sample.now)
        #expect(record.failure == nil)
        #expect(record.tries == 0)
        #expect(record.intent == nil)
    }

    @Test func `a length that was unknown is known at the end`() throws {
        var record = try Situation.publishing.record()
        record.remote = RemoteVersion()
        report(.completed(name: Sample.name, size: 5, .none), to: &record)
        #expect(record.remote.total == 5)
        #expect(record.segments == Sample.first(5))
        #expect(record.integrity == Integrity.none)
    }

    @Test func `an empty file can be completed`() throws {
        var record = try Situation.publishing.record()
        report(.completed(name: Sample.name, size: 0, .length), to: &record)
        #expect(record.state == .completed)
        #expect(record.segments.isEmpty)
        #expect(record.remote.total == 0)
    }

    // MARK: Failed

    @Test(arguments: 1...8 as ClosedRange<UInt32>)
    func `tries without progress are counted, and the eighth is the last`(tries: UInt32) throws {
        var record = try Situation.connecting.record()
        record.tries = tries - 1
        let effects = report(.failed(Sample.reset), to: &record)
        #expect(record.tries == tries)
        #expect(record.failure == Sample.reset)
        guard tries < 8 else {
            #expect(record.state == .failed)
            #expect(effects == [.persist, .announce, .fillSlots])
            return
        }
        let wait = Duration.seconds(1 << (Int(tries) - 1))
        #expect(record.state == .waiting(.retry(at: Sample.now.advanced(by: wait))))
        #expect(effects == [.persist, .announce, .scheduleRetry(after: wait), .fillSlots])
    }

    @Test func `the server's wish sets the time of the next try`() throws {
        var record = try Situation.connecting.record()
        let busy = Failure(.serverBusy, "503", isTransient: true, retryAfter: .seconds(30))
        report(.failed(busy), to: &record, jitter: 0)
        #expect(record.state == .waiting(.retry(at: Sample.now.advanced(by: .seconds(30)))))
    }

    @Test(arguments: [FailureCode.fileVanished, .fileFailed])
    func `what a host has failed does not count against a disk`(code: FailureCode) throws {
        var record = try Situation.downloading.record()
        record.tries = RetryPolicy.tries + 4
        record.hostHasAnswered = true
        record.failure = Sample.reset
        let drive = Failure(code, "no drive", isTransient: true)
        report(.failed(drive), to: &record)
        #expect(record.state.isBackOff)
        #expect(record.tries == 1)
        _ = record.apply(.retryDue, at: Sample.now, jitter: 0)
        _ = record.apply(.slotGranted(order: 1), at: Sample.now, jitter: 0)
        report(.failed(drive), to: &record)
        #expect(record.tries == 2)
    }

    @Test(arguments: [Sample.reset, Sample.missing, Sample.vanished])
    func `a failure keeps the bytes on disk`(failure: Failure) throws {
        var record = try Situation.downloading.record()
        report(.failed(failure), to: &record)
        #expect(record.segments == Sample.first(Sample.half))
        #expect(record.file == Sample.file)
        #expect(record.remote == Sample.remote)
    }

    @Test func `worthless bytes are not what the next try goes on from by itself`() throws {
        var record = try Situation.downloading.record()
        let changed = Failure(.serverContentChanged, "another version", isTransient: true)
        report(.failed(changed), to: &record)
        #expect(record.segments.isEmpty)
        #expect(record.remote == RemoteVersion())
    }

    // MARK: Stretches

    @Test func `a mebibyte of progress begins the count of tries anew`() throws {
        var record = try Situation.downloading.record()
        record.tries = 7
        record.stretchStart = Sample.half - RetryPolicy.progress
        report(.failed(Sample.reset), to: &record)
        #expect(record.tries == 1)
        #expect(record.stretchStart == Sample.half)
        #expect(record.state.kind == .waiting)
    }

    @Test func `a byte less than a mebibyte does not begin the count anew`() throws {
        var record = try Situation.downloading.record()
        record.tries = 7
        record.stretchStart = Sample.half - RetryPolicy.progress + 1
        record.waited = .seconds(record.request.retryFor)
        report(.failed(Sample.reset), to: &record)
        #expect(record.tries == 8)
        #expect(record.state == .failed)
    }

    @Test func `a slow line that moves is never given up`() throws {
        var record = try Situation.downloading.record()
        record.segments = SegmentMap()
        for round in 1...Int64(16) {
            record.state = .downloading
            report(.checkpointed(Sample.first(round * (RetryPolicy.progress / 2))), to: &record)
            report(.failed(Sample.reset), to: &record)
            #expect(record.state.kind == .waiting, "after \(round) halves of a mebibyte")
        }
    }

    @Test func `Attempts is 0 again as soon as the stretch has ended`() throws {
        var record = try Situation.downloading.record()
        record.segments = SegmentMap()
        record.tries = 5
        report(.checkpointed(Sample.first(RetryPolicy.progress)), to: &record)
        #expect(record.tries == 0)
    }

    @Test func `what is fetched once more from zero is no progress`() throws {
        var record = try Situation.downloading.record()
        record.segments = SegmentMap()
        for round in 1...Int(RetryPolicy.tries) {
            record.state = .downloading
            var remote = Sample.otherRemote
            remote.lastModified = LastModified(field: "the time of day, \(round)", isStrong: false)
            report(.opened(Sample.file, remote, keeping: SegmentMap()), to: &record)
            report(.checkpointed(Sample.first(Sample.half / 2)), to: &record)
            report(.checkpointed(Sample.first(Sample.half)), to: &record)
            report(.failed(Sample.reset), to: &record)
            #expect(record.tries == round)
        }
        #expect(record.hostHasAnswered)
    }

    // MARK: Outages

    @Test func `waits and tries add up, and progress begins both counts anew`() throws {
        var record = try Situation.downloading.record()
        for (took, waited) in [(50, 1), (50, 1 + 50 + 2), (900, 1 + 50 + 2 + 300 + 4)] {
            record.state = .downloading
            _ = record.apply(
                .transfer(.failed(Sample.reset), of: record.attempt),
                at: .init(microseconds: 0),
                jitter: 1,
                took: .seconds(took)
            )
            #expect(record.waited == .seconds(waited))
        }
        record.state = .downloading
        record.segments = SegmentMap()
        record.stretchStart = 0
        report(.checkpointed(Sample.first(RetryPolicy.progress)), to: &record)
        #expect(record.tries == 0)
        #expect(record.waited == .zero)
    }

    @Test(arguments: [Situation.queuedWithBytes, .downloading])
    func `a pause that a host asked another task for fails a task that waits no longer`(
        situation: Situation
    ) throws {
        for (rest, state) in [(60, TaskState.Kind.waiting), (61, .failed)] {
            var record = try situation.record()
            record.stretchStart = record.segments.byteCount
            record.request.retryFor = 70
            record.waited = .seconds(10)
            let obstacle = Obstacle.hostRests(for: .seconds(rest))
            let event =
                situation == .downloading
                ? Event.transfer(.held(by: obstacle), of: record.attempt) : .held(by: obstacle)
            _ = record.apply(event, at: Sample.now, jitter: 0)
            #expect(record.state.kind == state)
            #expect((record.failure?.code == .serverBusy) == (state == .failed))
        }
    }

    @Test func `a short pause ends no task before its last try`() throws {
        for (rest, state) in [(59, TaskState.Kind.waiting), (61, .failed)] {
            var record = try Situation.downloading.record()
            record.request.retryFor = 1
            let obstacle = Obstacle.hostRests(for: .seconds(rest))
            _ = record.apply(
                .transfer(.held(by: obstacle), of: record.attempt),
                at: Sample.now,
                jitter: 0
            )
            #expect(record.state.kind == state)
        }
    }

    @Test func `a task whose host has never answered waits until its host may be asked`() throws {
        var record = try Situation.queued.record()
        record.request.retryFor = 1
        let obstacle = Obstacle.hostRests(for: .seconds(60))
        _ = record.apply(.held(by: obstacle), at: Sample.now, jitter: 0)
        #expect(record.state.kind == .waiting)
    }

    @Test(arguments: [.min, 0, .max] as [Int64])
    func `a clock that is set makes no task give up`(microseconds: Int64) throws {
        var record = try Situation.downloading.record()
        for round in 1...20 as ClosedRange<UInt32> {
            record.state = .downloading
            _ = record.apply(
                .transfer(.failed(Sample.reset), of: record.attempt),
                at: WallTime(microseconds: round.isMultiple(of: 2) ? microseconds : 1),
                jitter: 0.5
            )
            #expect(record.tries == round)
            #expect(record.state.kind == .waiting)
        }
    }

    @Test(arguments: [false, true])
    func `that a host has answered is kept, and not in the failure`(hasAnswered: Bool) throws {
        var record = try Situation.downloading.record()
        record.segments = SegmentMap()
        record.hostHasAnswered = false
        var failure = Sample.reset
        failure.isAfterAnswer = hasAnswered
        record.tries = 7
        report(.failed(failure), to: &record)
        #expect(record.hostHasAnswered == hasAnswered)
        #expect(record.failure == Sample.reset)
        #expect(record.state.kind == (hasAnswered ? .waiting : .failed))
    }

    @Test func `a verb begins the counts anew, and another host is no known one`() throws {
        var record = try Situation.downloading.record()
        (record.tries, record.waited, record.hostHasAnswered) = (9, .seconds(5000), true)
        record.state = .failed
        _ = try record.apply(.retry)
        #expect(record.tries == 0)
        #expect(record.waited == .zero)
        #expect(record.hostHasAnswered)
        _ = try record.setURL("http://other.example/", isSameOrigin: false)
        #expect(!record.hostHasAnswered)
    }

    @Test func `another length each time does not begin the count of tries anew`() throws {
        var record = try Situation.downloading.record()
        record.segments = SegmentMap()
        for round in 1...20 {
            record.state = .downloading
            var remote = Sample.remote
            remote.total = Sample.total + Int64(round)
            report(.opened(Sample.file, remote, keeping: SegmentMap()), to: &record)
            report(.checkpointed(Sample.first(Sample.half)), to: &record)
            report(.failed(Sample.reset), to: &record)
            #expect(record.tries == round)
        }
        // What lies beyond is.
        record.state = .downloading
        report(.opened(Sample.file, Sample.remote, keeping: SegmentMap()), to: &record)
        report(.checkpointed(Sample.first(Sample.half + RetryPolicy.progress)), to: &record)
        #expect(record.tries == 0)
    }

    @Test func `bytes fetched again after a cut do not begin the count anew`() throws {
        var record = try Situation.downloading.record()
        record.tries = 7
        record.stretchStart = Sample.half
        report(.checkpointed(SegmentMap()), to: &record)
        report(.checkpointed(Sample.first(Sample.half)), to: &record)
        report(.failed(Sample.reset), to: &record)
        #expect(record.state.kind == .waiting)
        #expect(record.tries == 8)
    }
}
