// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import iDownBus
import iDownTesting

@testable import DBus
@testable import iDownService

@Suite struct AnswerTurnsTests {
    /// What was started, in order.
    private final class Record: Sendable {
        private let names = Mutex<[String]>([])

        var all: [String] { names.withLock { $0 } }

        func append(_ name: String) { names.withLock { $0.append(name) } }
    }

    @Test func `few are made at a time, and a client with many keeps nobody waiting for long`() {
        var turns = AnswerTurns()
        let record = Record()
        for number in 1...1000 { turns.begin(of: ":1.1") { record.append("many \(number)") } }
        #expect(record.all == ["many 1", "many 2"])
        for number in 1...2 { turns.begin(of: ":1.2") { record.append("few \(number)") } }
        #expect(record.all.dropFirst(2) == ["few 1"])
        turns.end(of: ":1.2")
        #expect(record.all.dropFirst(3) == ["few 2"])
        turns.begin(of: ":1.3") { record.append("other") }
        for client in [":1.1", ":1.1", ":1.2"] { turns.end(of: client) }
        #expect(record.all.dropFirst(4) == ["many 3", "other", "many 4"])
    }

    @Test func `when all are over the next one starts at once`() {
        var turns = AnswerTurns()
        let record = Record()
        for number in 1...5 { turns.begin(of: ":1.1") { record.append("\(number)") } }
        for _ in 1...5 { turns.end(of: ":1.1") }
        #expect(record.all == ["1", "2", "3", "4", "5"])
        for number in 6...9 { turns.begin(of: ":1.\(number)") { record.append("\(number)") } }
        #expect(record.all.dropFirst(5) == ["6", "7", "8"])
    }

    @Test func `of those who waited for a list and left none is made`() async throws {
        try await withService { scene in
            let connection = scene.proxy.connection
            let there = await connection.uniqueName
            let record = Record()
            func list(for sender: BusName?, _ name: String) -> Task<Void, any Error> {
                let call = Call(
                    connection: connection,
                    sender: sender,
                    path: Contract.managerPath,
                    interface: Contract.managerInterface,
                    member: "ListTasks",
                    wantsReply: true
                )
                return Task { try await scene.manager.makeList(for: call) { record.append(name) } }
            }
            // Nobody has had this name; whoever need not wait is not looked for.
            let gone = try BusName(validating: ":0.4711")
            try await list(for: gone, "at once").value
            await scene.manager.takeAllTurns()
            let lists = [list(for: gone, "gone"), list(for: there, "there"), list(for: nil, "nil")]
            try await soon("all to wait") { await scene.manager.clientsInLine == 3 }
            await scene.manager.giveTurnsBack()
            await #expect(throws: CancellationError.self) { try await lists[0].value }
            for list in lists.dropFirst() { try await list.value }
            #expect(record.all.first == "at once")
            #expect(record.all.dropFirst().sorted() == ["nil", "there"])
        }
    }
}

extension ManagerService {
    fileprivate var clientsInLine: Int { answerTurns.clients.count }

    fileprivate func takeAllTurns() {
        for number in 1...AnswerTurns.most { answerTurns.begin(of: "\(number)") {} }
    }

    fileprivate func giveTurnsBack() {
        for number in 1...AnswerTurns.most { answerTurns.end(of: "\(number)") }
    }

    fileprivate func makeList(
        for call: Call,
        _ body: @Sendable () -> Void
    ) async throws {
        try await inTurn(call) { body() }
    }
}
