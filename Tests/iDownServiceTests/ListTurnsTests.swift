// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import iDownService

@Suite struct ListTurnsTests {
    /// What was started, in order.
    private final class Record: Sendable {
        private let names = Mutex<[String]>([])

        var all: [String] { names.withLock { $0 } }

        func append(_ name: String) { names.withLock { $0.append(name) } }
    }

    @Test func `few are made at a time, and a client with many keeps nobody waiting for long`() {
        var turns = ListTurns()
        let record = Record()
        for number in 1...1000 { turns.begin(of: ":1.1") { record.append("many \(number)") } }
        #expect(record.all == ["many 1", "many 2"])
        for number in 1...2 { turns.begin(of: ":1.2") { record.append("few \(number)") } }
        for _ in 1...4 { turns.end() }
        #expect(record.all.dropFirst(2) == ["many 3", "few 1", "many 4", "few 2"])
    }

    @Test func `when all are over the next one starts at once`() {
        var turns = ListTurns()
        let record = Record()
        for number in 1...5 { turns.begin(of: ":1.1") { record.append("\(number)") } }
        for _ in 1...5 { turns.end() }
        #expect(record.all == ["1", "2", "3", "4", "5"])
        turns.begin(of: ":1.2") { record.append("6") }
        turns.begin(of: ":1.2") { record.append("7") }
        turns.begin(of: ":1.2") { record.append("8") }
        #expect(record.all.dropFirst(5) == ["6", "7"])
    }
}
