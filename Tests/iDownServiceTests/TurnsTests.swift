// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownService

@Suite struct TurnsTests {
    /// Lets calls judge for as long as the test wants.
    private actor Desk {
        private var turns = Turns()
        private var places: [Int: Turns.Turn] = [:]
        private(set) var handedIn: [Int] = []

        var isEmpty: Bool { turns.isEmpty }

        func arrive(_ call: Int, from client: String) { places[call] = turns.begin(client) }

        func refuse(_ call: Int) {
            if let turn = places[call] { turns.end(turn) }
        }

        func judged(_ call: Int) async {
            guard let turn = places[call] else { return }
            if !turns.hasCome(turn) {
                await withCheckedContinuation { turns.wait(for: turn, $0) }
            }
            turns.end(turn)
            handedIn.append(call)
        }
    }

    @Test func `who was judged first waits for those who asked first`() async {
        let desk = Desk()
        for call in 1...4 { await desk.arrive(call, from: ":1.1") }
        await withTaskGroup { group in
            for call in [4, 3, 2] { group.addTask { await desk.judged(call) } }
            group.addTask { await desk.judged(1) }
        }
        #expect(await desk.handedIn == [1, 2, 3, 4])
        #expect(await desk.isEmpty)
    }

    @Test func `a refused call holds nobody up`() async {
        let desk = Desk()
        for call in 1...3 { await desk.arrive(call, from: ":1.1") }
        await desk.refuse(2)
        await desk.refuse(1)
        await desk.judged(3)
        #expect(await desk.handedIn == [3])
        #expect(await desk.isEmpty)
    }

    @Test func `one client does not wait for another`() async {
        let desk = Desk()
        await desk.arrive(1, from: ":1.1")
        await desk.arrive(2, from: ":1.2")
        await desk.judged(2)
        await desk.judged(1)
        #expect(await desk.handedIn == [2, 1])
        #expect(await desk.isEmpty)
    }
}
