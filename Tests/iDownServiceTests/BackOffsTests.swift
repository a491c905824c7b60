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
}
