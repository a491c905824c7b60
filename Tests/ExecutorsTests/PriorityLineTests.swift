// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownTesting

@testable import Executors

@Suite struct PriorityLineTests {
    @Test func `the highest priority comes first, and equal ones in the order in which they came`()
    {
        var line = PriorityLine<String>()
        for (text, priority): (String, UInt8) in [
            ("b1", 21), ("c1", 9), ("a1", 25), ("b2", 21), ("a2", 25), ("c2", 9), ("d1", 0),
        ] {
            line.append(text, priority: priority)
        }
        var taken: [String] = []
        while let text = line.popFirst() { taken.append(text) }
        #expect(taken == ["a1", "a2", "b1", "b2", "c1", "c2", "d1"])
    }

    @Test func `whatever is put in and taken out in between, it is as one sorted list`() {
        var generator = SeededGenerator(seed: 7)
        var line = PriorityLine<Int>()
        var model: [(priority: UInt8, number: Int)] = []
        for number in 0..<5_000 {
            if Int.random(in: 0..<9, using: &generator) < 5 {
                let priority = UInt8.random(in: 0..<4, using: &generator)
                line.append(number, priority: priority)
                let place = model.firstIndex { $0.priority < priority } ?? model.endIndex
                model.insert((priority, number), at: place)
            } else {
                let first = model.isEmpty ? nil : model.removeFirst().number
                #expect(line.popFirst() == first)
            }
        }
    }
}
