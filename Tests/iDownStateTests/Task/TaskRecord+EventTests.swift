// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownState

/// What single events change beside the state, and what they leave alone.
@Suite struct TaskRecordEventTests {
    @Test func `a try that the network has failed counts no more once it is back`() throws {
        var record = try Situation.downloading.record()
        record.tries = 6
        record.stretchStart = record.segments.byteCount
        let failed = Event.transfer(.failed(Sample.reset), of: record.attempt)
        _ = record.apply(failed, at: Sample.now, jitter: 1)
        #expect(record.waited == .seconds(64))
        let back = Sample.now.advanced(by: .seconds(5))
        _ = record.apply(.networkBack, at: back, jitter: 0)
        #expect(record.state == .waiting(.queue))
        #expect(record.waited == .seconds(5))
        #expect(record.tries == 6)
        // A host that has failed the last try is left alone.
        record.state = .waiting(.retry(at: Sample.now))
        record.failure = .status(502)
        #expect(record.apply(.networkBack, at: back, jitter: 0) == [])
    }

    @Test func `a disk and a host that fail in turn are given up`() throws {
        var record = try Situation.downloading.record()
        var failures = 0
        while record.state == .downloading, failures < 100 {
            let failure: Failure =
                failures % 2 == 0
                ? .status(502) : Failure(.fileNoSpace, "quota", isTransient: true)
            let event = Event.transfer(.failed(failure), of: record.attempt)
            _ = record.apply(event, at: Sample.now, jitter: 0)
            _ = record.apply(.retryDue, at: Sample.now, jitter: 0)
            _ = record.apply(.slotGranted(order: 1), at: Sample.now, jitter: 0)
            failures += 1
        }
        #expect(record.state == .failed)
        #expect(failures < 20)
    }

    @Test(arguments: Situation.allCases)
    func `a finished file that was read again is known by what was found`(
        situation: Situation
    ) throws {
        let before = try situation.record()
        var record = before
        let isCompleted = situation == .completed
        let effects: [Effect] = isCompleted ? [.persist, .announce] : []
        #expect(record.apply(.verified(Sample.mismatch), at: Sample.now, jitter: 0) == effects)
        guard isCompleted else { return #expect(record == before) }
        #expect(record.state == .completed && record.failure == Sample.mismatch)
        #expect(record.integrity == Integrity.none)
        #expect(record.apply(.verified(Sample.mismatch), at: Sample.now, jitter: 0).isEmpty)
        #expect(record.apply(.verified(nil), at: Sample.now, jitter: 0) == effects)
        #expect(record == before)
        record.request.checksum = Checksum(.md5, Array(repeating: 1, count: 16))
        #expect(record.apply(.verified(nil), at: Sample.now, jitter: 0) == effects)
        #expect(record.integrity == .checksum)
    }

    // MARK: The scheduler

    @Test func `a start has the next number and its place among all starts`() throws {
        var record = try Situation.queuedWithBytes.record()
        _ = record.apply(.slotGranted(order: 41), at: Sample.now, jitter: 0)
        var expected = try Situation.queuedWithBytes.record()
        expected.state = .downloading
        expected.attempt = Sample.attempt.next
        expected.startOrder = 41
        #expect(record == expected)
    }

    @Test(arguments: [
        (Failure(.fileNoSpace, "full", neededSpace: 5), false),
        (Failure(.fileFailed, "busy", isTransient: true), false),
        (Failure(.fileNoSpace, "full, and not moved"), true),
        (Failure(.networkReset, "cut", isTransient: true), true),
    ])
    func `a start forgets what the disk has refused before, but no failed move`(
        failure: Failure,
        isKept: Bool
    ) throws {
        var record = try Situation.queuedWithBytes.record()
        record.failure = failure
        _ = record.apply(.slotGranted(order: 41), at: Sample.now, jitter: 0)
        #expect(record.failure == (isKept ? failure : nil))
    }

    @Test func `a displaced task keeps its bytes and its tries`() throws {
        var record = try Situation.downloading.record()
        record.tries = 2
        var expected = record
        expected.state = .waiting(.queue)
        _ = record.apply(.displaced, at: Sample.now, jitter: 0)
        #expect(record == expected)
    }

    @Test func `a back-off that is over keeps the failure to show and the tries`() throws {
        var record = try Situation.backingOff.record()
        var expected = record
        expected.state = .waiting(.queue)
        _ = record.apply(.retryDue, at: Sample.now, jitter: 0)
        #expect(record == expected)
    }

    // MARK: The start of the service

    @Test(
        arguments: [
            (-3_600, .zero), (0, .zero), (10, .seconds(10)), (86_400, .seconds(300)),
        ] as [(Int64, Duration)]
    )
    func `after a restart a back-off lasts its rest, and RetryAt shows that`(
        seconds: Int64,
        rest: Duration
    ) throws {
        var record = try Situation.backingOff.record()
        record.state = .waiting(.retry(at: Sample.now.advanced(by: .seconds(seconds))))
        let effects = record.apply(.serviceStarted, at: Sample.now, jitter: 0)
        #expect(effects == [.persist, .announce, .scheduleRetry(after: rest)])
        #expect(record.state == .waiting(.retry(at: Sample.now.advanced(by: rest))))
    }

    @Test func `a partial file that was cut shorter shrinks the map`() throws {
        var record = try Situation.pausedWithBytes.record()
        record.stretchStart = Sample.half
        _ = record.apply(.partialFound(size: 1 << 20), at: Sample.now, jitter: 0)
        #expect(record.segments == Sample.first(1 << 20))
        #expect(record.stretchStart == 1 << 20)
        #expect(record.file == Sample.file)
        #expect(record.remote == Sample.remote)
    }

    @Test(arguments: [-1, .min] as [Int64])
    func `a size that is none leaves nothing, and is no trap`(size: Int64) throws {
        var record = try Situation.pausedWithBytes.record()
        _ = record.apply(.partialFound(size: size), at: Sample.now, jitter: 0)
        #expect(record.segments.isEmpty)
    }

    @Test func `a partial file that is gone is forgotten with all that was known of it`() throws {
        var record = try Situation.pausedWithBytes.record()
        _ = record.apply(.partialFound(size: nil), at: Sample.now, jitter: 0)
        #expect(record.file == nil)
        #expect(record.segments.isEmpty)
        #expect(record.remote == RemoteVersion())
        #expect(record.stretchStart == 0)
    }

    @Test func `a file found under its final name completes the task`() throws {
        var record = try Situation.publicationInterrupted.record()
        record.failure = Sample.reset
        record.tries = 3
        let event = Event.publicationFound(name: Sample.otherName, size: Sample.total)
        _ = record.apply(event, at: Sample.now, jitter: 0)
        #expect(record.file?.name == Sample.otherName)
        #expect(record.file?.mark == Sample.file.mark)
        #expect(record.integrity == .validators)
        #expect(record.finishedAt == Sample.now)
        #expect(record.failure == nil)
        #expect(record.tries == 0)
        #expect(record.segments.covers(Sample.total))
        #expect(record.path == "/home/u/Downloads/file (1).iso")
    }

    // MARK: Deletions

    @Test(arguments: [Situation.discarding, .queuedWhileDiscarding, .pausedWhileDiscarding])
    func `with the partial file goes all that was known of it`(situation: Situation) throws {
        var record = try situation.record()
        _ = record.apply(.partialDeleted, at: Sample.now, jitter: 0)
        #expect(record.file == nil)
        #expect(record.segments.isEmpty)
        #expect(record.remote == RemoteVersion())
        #expect(record.stretchStart == 0)
    }

    @Test func `only a task that waits for the deletion of its old file tells that it fails`()
        throws
    {
        let failed = Event.deletionFailed(Sample.vanished, again: .seconds(5))
        for situation in Situation.allCases where situation != .queuedWhileDiscarding {
            var record = try situation.record()
            #expect(record.apply(failed, at: Sample.now, jitter: 0) == [])
        }
        var record = try Situation.queuedWhileDiscarding.record()
        #expect(record.apply(failed, at: Sample.now, jitter: 0) == [.persist, .announce])
        #expect(record.state == .waiting(.retry(at: Sample.now.advanced(by: .seconds(5)))))
        #expect(record.failure == Sample.vanished)
        _ = record.apply(.partialDeleted, at: Sample.now, jitter: 0)
        #expect(record.state == .waiting(.queue) && record.failure == nil)
    }
}
