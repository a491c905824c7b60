// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import iDownBus
import iDownState

@testable import iDownService

/// Counts the calls of a reply.
private final class Answers: Sendable {
    private let number = Mutex(0)

    var count: Int { number.withLock { $0 } }

    func add() { number.withLock { $0 += 1 } }
}

@Suite struct AnnouncementQueueTests {
    private func snapshot(_ id: Int64, _ state: TaskState = .paused) -> TaskSnapshot {
        TaskSnapshot(record: .sample(id) { $0.state = state }, live: nil)
    }

    private func id(_ number: Int64) throws -> TaskID {
        try #require(TaskID(rawValue: number))
    }

    private func taken(_ queue: inout AnnouncementQueue) throws -> TaskNews {
        guard case .task(let id) = queue.takeFirst(), let news = queue.takeNews(of: id) else {
            throw Failed()
        }
        return news
    }

    private func drain(_ queue: inout AnnouncementQueue) -> [Int64] {
        var ids: [Int64] = []
        while let item = queue.takeFirst() {
            switch item {
            case .task(let id):
                guard queue.takeNews(of: id) != nil else { continue }
                ids.append(id.rawValue)
            case .many(let many): ids += many.ids.compactMap { Int64($0) }.map(-)
            case .reply(let reply): reply()
            }
        }
        return ids
    }

    private struct Failed: Error {}

    private func many(_ ids: ClosedRange<Int64>) -> ManyChanged {
        ManyChanged(
            kind: .changed,
            sample: TaskProperties(),
            common: [],
            ids: ids.map { "\($0)" }
        )
    }

    @Test func `what went there and back is told, since a client may have read it in between`()
        throws
    {
        var queue = AnnouncementQueue()
        let first = snapshot(1)
        let second = TaskSnapshot(
            record: .sample(1) { ($0.state, $0.priority) = (.paused, 7) },
            live: nil
        )
        queue.put(try id(1), from: first, to: second)
        queue.put(try id(1), from: second, to: first)
        let news = try taken(&queue)
        let task = TaskProperties(first)
        #expect(news.differences(from: task, to: task) == [.priority])
    }

    @Test func `one signal for many keeps its place`() throws {
        var queue = AnnouncementQueue()
        queue.put(try id(1), from: nil, to: snapshot(1))
        queue.put(many(3...4))
        let answers = Answers()
        let waits = queue.keep({ answers.add() }, after: try (1...100).map { try id($0) })
        #expect(waits)
        queue.put(try id(2), from: nil, to: snapshot(2))
        #expect(drain(&queue) == [1, -3, -4, 2])
        #expect(answers.count == 1)
        #expect(queue.isEmpty)
    }

    @Test func `signals for many that nobody takes are so many at most`() throws {
        var queue = AnnouncementQueue()
        var count = 0
        while !queue.hasManyWaiting {
            queue.put(many(1...4))
            count += 1
        }
        #expect(count == 64)
        _ = queue.takeFirst()
        #expect(!queue.hasManyWaiting)
    }

    @Test func `the serials of running tasks are known before they are told`() throws {
        var queue = AnnouncementQueue()
        let record = TaskRecord.sample(1) { ($0.state, $0.serial) = (.downloading, 7) }
        queue.put(try id(1), from: nil, to: TaskSnapshot(record: record, live: nil))
        queue.put(try id(2), from: nil, to: snapshot(2))
        #expect(queue.runningSerials == [try id(1): 7])
    }

    @Test func `changes of one task become one, from what was told to what is`() throws {
        var queue = AnnouncementQueue()
        let one = try id(1)
        queue.put(one, from: snapshot(1, .paused), to: snapshot(1, .waiting(.queue)))
        queue.put(try id(2), from: snapshot(2), to: snapshot(2, .failed))
        queue.put(one, from: snapshot(1, .waiting(.queue)), to: snapshot(1, .completed))
        let first = try taken(&queue)
        #expect(first.id == one)
        #expect(first.told?.record.state == .paused)
        #expect(first.now?.record.state == .completed)
        let second = try id(2)
        let next = try taken(&queue)
        #expect(next.id == second)
        #expect(queue.isEmpty)
    }

    @Test func `a task that came and went is told as gone`() throws {
        var queue = AnnouncementQueue()
        let one = try id(1)
        queue.put(one, from: nil, to: snapshot(1))
        queue.put(one, from: nil, to: nil)
        let first = try taken(&queue)
        #expect(first.now == nil)
        #expect(queue.isEmpty)
    }

    @Test func `a reply comes after what it causes, and does not wait for others`() throws {
        var queue = AnnouncementQueue()
        for number in 1...5 { queue.put(try id(Int64(number)), from: nil, to: snapshot(1)) }
        let answers = Answers()
        let waits = queue.keep({ answers.add() }, after: [try id(4)])
        #expect(waits)
        #expect(answers.count == 0)
        let first = try taken(&queue).id
        #expect(first.rawValue == 4)
        #expect(answers.count == 0)
        guard case .reply(let reply) = queue.takeFirst() else { throw Failed() }
        reply()
        let rest = drain(&queue)
        #expect(rest == [1, 2, 3, 5])
        #expect(answers.count == 1)
    }

    @Test func `what was taken is let go although the queue never runs empty`() throws {
        final class Witness: Sendable {}
        struct Weak { weak var observer: Witness? }
        var queue = AnnouncementQueue()
        var witnesses: [Weak] = []
        let ids = try (1...100).map { try id($0) }
        queue.put(many(1...2))
        for _ in 1...5_000 {
            let observer = Witness()
            witnesses.append(Weak(observer: observer))
            let waits = queue.keep({ _ = observer }, after: ids)
            #expect(waits)
            queue.put(many(1...2))
            _ = queue.takeFirst()
            _ = queue.takeFirst()
        }
        #expect(!queue.isEmpty)
        #expect(witnesses.count { $0.observer != nil } < 1_000)
    }

    @Test func `a reply to a change of many waits for the last of them`() throws {
        var queue = AnnouncementQueue()
        let ids = try (1...200).map { try id($0) }
        for id in ids { queue.put(id, from: nil, to: snapshot(id.rawValue)) }
        let answers = Answers()
        let waits = queue.keep({ answers.add() }, after: ids)
        #expect(waits)
        for _ in 1...200 {
            _ = try taken(&queue)
            #expect(answers.count == 0)
        }
        let rest = drain(&queue)
        #expect(rest == [])
        #expect(answers.count == 1)
    }

    @Test
    func `a reply with nothing to wait for is not kept, and one with nobody to tell comes back`()
        throws
    {
        var queue = AnnouncementQueue()
        let answers = Answers()
        let one = try id(1)
        let waitsForNothing = queue.keep({ answers.add() }, after: [one])
        #expect(!waitsForNothing)
        queue.put(one, from: nil, to: snapshot(1))
        let waits = queue.keep({ answers.add() }, after: [one])
        #expect(waits)
        for reply in queue.removeAll() { reply() }
        #expect(answers.count == 1)
        #expect(queue.isEmpty)
    }
}

extension AnnouncementQueue {
    fileprivate mutating func put(_ id: TaskID, from told: TaskSnapshot?, to now: TaskSnapshot?) {
        put(TaskNews(id: id, told: told, now: now))
    }
}
