// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownService

@Suite struct CallLinesTests {
    private func drain(_ lines: inout CallLines<Int>, _ client: String) -> [Int] {
        var calls: [Int] = []
        while let (_, call) = lines.takeFirst(of: client) { calls.append(call) }
        return calls
    }

    @Test func `calls of one client are taken in the order in which they came`() {
        var lines = CallLines<Int>()
        let begins = (1...5).map { lines.append($0, from: ":1.1") }
        #expect(begins == [true, false, false, false, false])
        let first = lines.takeFirst(of: ":1.1")?.call
        #expect(first == 1)
        let isNew = lines.append(6, from: ":1.1")
        #expect(!isNew)
        let rest = drain(&lines, ":1.1")
        #expect(rest == [2, 3, 4, 5, 6])
    }

    @Test func `a line goes on until somebody has found it empty`() {
        var lines = CallLines<Int>()
        _ = lines.append(1, from: ":1.1")
        _ = lines.takeFirst(of: ":1.1")
        let goesOn = !lines.append(2, from: ":1.1")
        #expect(goesOn)
        let rest = drain(&lines, ":1.1")
        #expect(rest == [2])
        let isNew = lines.append(3, from: ":1.1")
        #expect(isNew)
    }

    @Test func `one client does not wait for another`() {
        var lines = CallLines<Int>()
        _ = lines.append(1, from: ":1.1")
        let isNew = lines.append(2, from: ":1.2")
        #expect(isNew)
        let second = drain(&lines, ":1.2")
        #expect(second == [2])
        let first = drain(&lines, ":1.1")
        #expect(first == [1])
    }

    @Test func `numbers tell which calls had come when one was taken`() {
        var lines = CallLines<Int>()
        for call in 1...3 { _ = lines.append(call, from: ":1.1") }
        #expect(lines.last(of: ":1.1") == 3)
        for number in 1...3 {
            let taken = lines.takeFirst(of: ":1.1")?.number
            #expect(taken == number)
        }
        _ = lines.append(4, from: ":1.1")
        #expect(lines.last(of: ":1.1") == 4)
        let taken = lines.takeFirst(of: ":1.1")?.number
        #expect(taken == 4)
        #expect(lines.last(of: ":1.2") == 0)
    }
}
