// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownTesting

@testable import iDownService
@testable import iDownState

// What happens in the simulated world, as its dice fall.
extension Simulation {
    /// Lets so many things happen, then peace; what was wrong.
    func play(steps: Int) async throws -> [String] {
        try await start()
        for _ in 0..<steps where clients.wrongs.isEmpty {
            if life.isDead { try await crash() }
            try await happen()
            await settle()
            await checkConnections()
        }
        if clients.wrongs.isEmpty { try await end() }
        try await wind(down: false)
        return clients.wrongs
    }

    private func happen() async throws {
        switch roll(100) {
        case ..<46:
            network.step(using: &dice)
            time.pass(.milliseconds(roll(200)))
        case ..<64: time.pass(.milliseconds(roll(10) == 0 ? 600_000 : roll(3_000)))
        case ..<82: use()
        case ..<85:
            if let file = network.files.randomElement(using: &dice) { network.replace(file.number) }
        case ..<87: setOnline(!network.isOnline || roll(2) == 0)
        case ..<89: disk.isFull = roll(3) == 0
        case ..<90: disk.failNextSync()
        case ..<92: failingCommits.set(1 + roll(2))
        case ..<93: time.setCalendar(by: .seconds(roll(200_000) - 100_000))
        case ..<96: life.light(fuse: 1 + roll(60))
        case ..<98: use()
        case 98: try await crash()
        default: if roll(3) == 0 { try await restart() }
        }
    }

    /// 0 and up, below `count`.
    func roll(_ count: Int) -> Int { Int.random(in: 0..<count, using: &dice) }

    // MARK: Users

    private func use() {
        let ids = clients.tasks.filter { !$0.value.isRemoved }.keys.sorted()
        guard let id = ids.randomElement(using: &dice), roll(10) > 2 else { return add() }
        switch roll(16) {
        case ..<3: call(id) { try await $0.carryOut(.pause, on: id) }
        case ..<6: call(id) { try await $0.carryOut(.resume, on: id) }
        case 6: call(id) { try await $0.carryOut(.retry, on: id) }
        case 7: call(id) { try await $0.carryOut(.cancel, on: id) }
        case 8: call(id) { try await $0.carryOut(.remove, on: id) }
        case 9: call(nil) { _ = try await $0.carryOut(.pause, onAllIn: [.waiting, .downloading]) }
        case ..<12: startAll()
        case 12:
            let priority = Int32(roll(3))
            call(id) { try await $0.set(id) { $0.priority = priority } }
        case 13:
            guard let number = clients.tasks[id].flatMap({ Self.number(in: $0.url) }),
                // Behind another URL validators tell nothing, and two blocks escape the windows.
                !network.files[number].changesInTwoBlocks,
                let url = try? URLReference(network.files[number].url(host: roll(3)))
            else { return }
            call(id) { try await $0.setURL(of: id, to: url) }
        case 14:
            let slots = 1 + roll(4)
            call(nil) { await $0.setSlots(slots) }
        default:
            let some = ids.filter { _ in roll(2) == 0 }
            let command = [Command.pause, .resume, .cancel][roll(3)]
            call(nil) { _ = try await $0.carryOut(command, on: some) }
        }
    }

    private func add() {
        guard network.files.count < 6 else { return }
        let file = network.add(using: &dice)
        let connections = [nil, 1, 2, 4][roll(4)]
        let request = TaskRequest(
            url: file.url(host: roll(3)),
            directory: disk.folder,
            connections: connections
        )
        let wish = NewTask(request: request, isPaused: roll(6) == 0)
        call(nil) { _ = try await $0.add([wish], token: nil) }
    }

    private func startAll() {
        call(nil) { _ = try await $0.carryOut(.resume, onAllIn: [.paused, .failed]) }
    }

    private func setOnline(_ isOnline: Bool) {
        network.isOnline = isOnline
        call(nil) { await $0.setOnline(isOnline) }
    }

    /// Somebody calls the service; a dead one does not answer.
    func call(_ id: TaskID?, _ body: @escaping @Sendable (Coordinator) async throws -> Void) {
        guard let coordinator else { return }
        let (clients, life) = (clients, life)
        clients.ask(id)
        calls.append(
            Task(executorPreference: executor) {
                // A refusal is an answer too.
                try? await body(coordinator)
                if life.ask() { clients.hearAnswer(id) }
            }
        )
    }

    // MARK: The end

    /// No more faults: everything comes to its end, and nothing is left over.
    private func end() async throws {
        network.calmDown()
        disk.isFull = false
        disk.failNextSync(false)
        failingCommits.set(0)
        mayDieAtOnce = false
        life.cutFuse()
        if life.isDead { try await crash() }
        setOnline(true)
        startAll()
        var isOver = false
        for round in 0..<4_000 where !isOver && clients.wrongs.isEmpty {
            await settle()
            if network.canStep {
                network.step(using: &dice)
                time.pass(.milliseconds(20))
            } else {
                time.pass(.seconds(600))
            }
            let kinds = clients.tasks.values.filter { !$0.isRemoved }.map(\.kind)
            if kinds.contains(.failed), round % 1_000 == 999 { startAll() }
            isOver = !network.canStep && kinds.allSatisfy { $0 == .completed || $0 == .cancelled }
        }
        await settle()
        if !isOver {
            let kinds = clients.tasks.filter { !$0.value.isRemoved }.sorted { $0.key < $1.key }
            let text = kinds.map { "\($0.key) \($0.value.kind)" }.joined(separator: ", ")
            clients.complain("it does not end: \(text)")
        }
        // What is deleted late, after a disk that refused, has its time.
        for _ in 0..<20 where !disk.names.allSatisfy({ clients.finished.contains($0) }) {
            time.pass(.seconds(600))
            await settle()
        }
        for name in disk.names where !clients.finished.contains(name) {
            clients.complain("\(name) is left over")
        }
    }
}
