// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@testable import iDownService

@Suite struct BackOffsTests {
    private let now = ContinuousClock.now
    private let ids = (1...3).compactMap { TaskID(rawValue: $0) }

    @Test func `without any there is nothing to wait for`() {
        var backOffs = BackOffs()
        #expect(backOffs.next == nil)
        #expect(backOffs.takeDue(at: now) == [])
    }

    @Test func `what is due is taken out once, in order of ids`() {
        var backOffs = BackOffs()
        backOffs.set(ids[2], now)
        backOffs.set(ids[0], now - .seconds(1))
        backOffs.set(ids[1], now + .seconds(1))
        #expect(backOffs.next == now - .seconds(1))
        #expect(backOffs.takeDue(at: now) == [ids[0], ids[2]])
        #expect(backOffs.takeDue(at: now) == [])
        #expect(backOffs.next == now + .seconds(1))
    }

    @Test func `a later failure moves the deadline of a task`() {
        var backOffs = BackOffs()
        backOffs.set(ids[0], now)
        backOffs.set(ids[0], now + .seconds(5))
        #expect(backOffs.takeDue(at: now) == [])
        #expect(backOffs.next == now + .seconds(5))
    }

    @Test func `a task that is not in back-off any more is not waited for`() {
        var backOffs = BackOffs()
        for (number, id) in ids.enumerated() { backOffs.set(id, now + .seconds(number)) }
        backOffs.remove(ids[0])
        #expect(backOffs.deadline(of: ids[0]) == nil)
        #expect(backOffs.next == now + .seconds(1))
        backOffs.remove(ids[2])
        #expect(backOffs.takeDue(at: now + .seconds(5)) == [ids[1]])
        #expect(backOffs.next == nil)
    }

    @Test func `whatever is set, moved and removed, the earliest is known`() {
        var backOffs = BackOffs()
        var all: [TaskID: BackOffs.Instant] = [:]
        let many = (1...50).compactMap { TaskID(rawValue: $0) }
        // 7,919 is a prime number: the steps meet all tasks and all seconds in no order.
        for step in 1...5_000 {
            let id = many[step * 7_919 % many.count]
            let second = step * 7_919 % 1_009
            switch step % 5 {
            case 0:
                backOffs.remove(id)
                all[id] = nil
            case 1 where step % 3 == 0:
                let time = now + .seconds(second / 4)
                let due = all.filter { $0.value <= time }.keys.sorted()
                #expect(backOffs.takeDue(at: time) == due)
                for id in due { all[id] = nil }
            default:
                backOffs.set(id, now + .seconds(second))
                all[id] = now + .seconds(second)
            }
            #expect(backOffs.next == all.values.min())
            #expect(backOffs.deadline(of: id) == all[id])
        }
    }

    @Test(.timeLimit(.minutes(1))) func `very many end one after the other in good time`() {
        var backOffs = BackOffs()
        let count = 100_000
        for number in 1...count {
            guard let id = TaskID(rawValue: Int64(number)) else { continue }
            backOffs.set(id, now + .milliseconds(number * 7_919 % count))
        }
        var ended = 0
        while let next = backOffs.next { ended += backOffs.takeDue(at: next).count }
        #expect(ended == count)
    }
}
