// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import iDownBus
import iDownData
import iDownTesting

@testable import iDownService
@testable import iDownState
@testable import iDownloader

/// What browsers hand over, as the coordinator keeps it.
@Suite struct HandOversTests {
    /// Clocks that run so many times as fast, from a calendar's time on.
    private func clocks(
        _ factor: Int = 1,
        from date: WallTime = .someTime
    ) -> TimeAndChance {
        let start = ContinuousClock.now
        return TimeAndChance(
            readCalendar: { date.advanced(by: (ContinuousClock.now - start) * factor) },
            readClock: { start + (ContinuousClock.now - start) * factor },
            wait: {
                try await Task.sleep(until: start + ($0 - start) / factor, clock: .continuous)
            },
            roll: { 0 }
        )
    }

    private func handOver(
        _ url: String,
        _ token: String,
        to hub: Hub,
        within patience: Duration = .seconds(3600),
        change: (inout TaskRequest) -> Void = { _ in }
    ) async throws -> TaskID {
        try await hub.coordinator.handOver(
            hub.wish(url, change: change),
            token: token,
            seen: SeenAnswer(),
            until: hub.engine.time.now + patience
        ).id
    }

    private func state(_ token: String, in hub: Hub) async throws -> HandOver? {
        try await hub.store.read { snapshot in
            try snapshot.handOvers.find(token)
        }
    }

    @Test func `who says nothing for a minute has confirmed`() async throws {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        // A minute takes three seconds: longer than the looks at what is not there yet.
        try await withHub(time: clocks(20)) { hub in
            let id = try await handOver(server.url("/a.bin"), "t", to: hub)
            #expect(try await hub.records.isEmpty)
            #expect(hub.names.isEmpty)
            #expect(await !hub.coordinator.isIdle)
            try await soon("the task to be completed") {
                try await hub.record(id)?.state == .completed
            }
            #expect(try await state("t", in: hub) == .confirmed(id))
            #expect(hub.holds(.small, as: "a.bin"))
            #expect(server.requests.count == 1)
        }
    }

    /// The user's own download of that host would stand still.
    @Test func `hand-overs that come at once leave connections to their host`() async throws {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        try await withHub { hub in
            let taken = await withTaskGroup(of: Bool.self, returning: Int.self) { group in
                for number in 0..<24 {
                    group.addTask {
                        let url = server.url("/\(number).bin")
                        return (try? await handOver(url, "t\(number)", to: hub)) != nil
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(taken == 12)
        }
    }

    /// A browser that missed the answer asks again, and would get the file twice.
    @Test func `a known token gets its answer while no further hand-over has a place`()
        async throws
    {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        try await withHub { hub in
            var ids: [TaskID] = []
            for number in 0..<12 {
                let url = server.url("/\(number).bin")
                ids.append(try await handOver(url, "t\(number)", to: hub))
            }
            await #expect(throws: ServiceRefusal.self) {
                try await handOver(server.url("/12.bin"), "t12", to: hub)
            }
            #expect(try await handOver(server.url("/0.bin"), "t0", to: hub) == ids[0])

            // Two others take the places of one that is confirmed, and of one that is withdrawn.
            #expect(try await hub.coordinator.confirmHandOver("t0") == ids[0])
            try await hub.announced.wait(for: ids[0], .completed)
            try await hub.coordinator.withdrawHandOver("t1")
            for number in 13...14 {
                _ = try await handOver(server.url("/\(number).bin"), "t\(number)", to: hub)
            }
            await #expect(throws: ServiceRefusal.self) {
                try await handOver(server.url("/12.bin"), "t12", to: hub)
            }
            #expect(try await handOver(server.url("/0.bin"), "t0", to: hub) == ids[0])
            await #expect(throws: ServiceRefusal.withdrawn) {
                try await handOver(server.url("/1.bin"), "t1", to: hub)
            }
        }
    }

    @Test func `two Unicode forms of a text are two tokens`() async throws {
        let gate = FaultServer.Gate()
        let server = try FaultServer(
            script: .init { [.wait(for: gate)] + ServedFile(.small).answer(to: $0) }
        )
        defer {
            gate.open()
            server.stop()
        }
        try await withHub { hub in
            let first = Task { try await handOver(server.url("/a.bin"), "\u{E9}", to: hub) }
            await server.waitForRequest()
            let second = Task { try await handOver(server.url("/b.bin"), "e\u{301}", to: hub) }
            try await soon("a request of the other token") { server.requests.count == 2 }
            gate.open()
            let ids = (try await first.value, try await second.value)
            #expect(ids.0 != ids.1)
        }
    }

    @Test func `the minute goes on while the service is not there`() async throws {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        try await withTemporaryFolder { folder in
            let id = try await withHub(in: folder, time: clocks()) { hub in
                try await handOver(server.url("/a.bin"), "t", to: hub)
            }
            let early = WallTime.someTime.advanced(by: .seconds(30))
            try await withHub(in: folder, time: clocks(from: early)) { hub in
                #expect(try await hub.records.isEmpty)
                guard case .provisional(id, _) = try await state("t", in: hub) else {
                    Issue.record("not provisional any more")
                    return
                }
            }
            let late = WallTime.someTime.advanced(by: .seconds(61))
            try await withHub(in: folder, time: clocks(from: late)) { hub in
                try await soon("the task to be completed") {
                    try await hub.record(id)?.state == .completed
                }
            }
        }
    }

    @Test(
        arguments: ["text/html", "text/plain", ""].map { ($0, FailureCode.serverForbidden) }
            + [("application/octet-stream", .serverContentChanged)]
    )
    func `a few bytes in place of the file that was agreed on are not taken after a restart`(
        type: String,
        code: FailureCode
    ) async throws {
        let file = ServedFile(.small)
        let server = try FaultServer(
            script: .init { request in
                guard request.number > 1 else { return file.answer(to: request) }
                let types = type.isEmpty ? [] : [("Content-Type", type)]
                let head = types + [("Content-Length", "5")]
                return [.head("200 OK", head), .send(Array("login".utf8))]
            }
        )
        defer { server.stop() }
        try await withTemporaryFolder { folder in
            try await withHub(in: folder, time: clocks()) { hub in
                _ = try await handOver(server.url("/a.bin"), "t", to: hub)
            }
            try await withHub(in: folder, time: clocks()) { hub in
                let id = try await hub.coordinator.confirmHandOver("t")
                try await hub.announced.wait(for: id, .failed)
                #expect(try await hub.record(id)?.failure?.code == code)
                #expect(hub.names.isEmpty)
                guard code == .serverContentChanged else { return }
                // The user may know better.
                try await hub.coordinator.carryOut(.retry, on: id)
                try await hub.announced.wait(for: id, .completed)
                #expect(try TestFile.text(of: hub.path("a.bin")) == "login")
            }
        }
    }

    @Test func `a file of another size than the client expects is left to the browser`()
        async throws
    {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        try await withHub { hub in
            await #expect(throws: ServiceRefusal.self) {
                try await handOver(server.url("/a.bin"), "t", to: hub) { $0.expectedSize = 7 }
            }
            let kept = try await state("t", in: hub)
            #expect(kept == nil)
        }
    }

    @Test func `an answer that ends before its first byte is refused by what broke it`()
        async throws
    {
        let server = try FaultServer(script: .init { _ in ServedFile(.small).cutOff(at: 0) })
        defer { server.stop() }
        try await withHub { hub in
            let refusal = await #expect(throws: ServiceRefusal.self) {
                try await handOver(server.url("/a.bin"), "t", to: hub)
            }
            guard case .disagreed(let text) = refusal else { return #expect(Bool(false)) }
            #expect(text.hasPrefix("Server.Truncated: "), "\(text)")
        }
    }

    @Test func `an answer that comes too late leaves nothing, not even its number`() async throws {
        let gate = FaultServer.Gate()
        let server = try FaultServer(
            script: .init { [.wait(for: gate)] + ServedFile(.small).answer(to: $0) }
        )
        defer { server.stop() }
        try await withHub { hub in
            await #expect(throws: ServiceRefusal.self) {
                try await handOver(server.url("/a.bin"), "t", to: hub, within: .milliseconds(50))
            }
            gate.open()
            #expect(try await state("t", in: hub) == nil)
            try await soon("the transfer to be over") { await hub.coordinator.isIdle }
            #expect(hub.names.isEmpty)
            // The same token may be tried again.
            let id = try await handOver(server.url("/a.bin"), "t", to: hub)
            #expect(try await hub.coordinator.confirmHandOver("t") == id)
        }
    }

    @Test func `only a task of the user's own that is on its way is joined`() async throws {
        let gate = FaultServer.Gate()
        let server = try FaultServer(
            script: .init { request in
                let answer = ServedFile(.small).answer(to: request)
                return request.path == "/held.bin" ? [.wait(for: gate)] + answer : answer
            }
        )
        defer { server.stop() }
        try await withHub { hub in
            let url = server.url("/a.bin")
            let paused = try await hub.add(url, isPaused: true)
            let id = try await handOver(url, "t", to: hub)
            #expect(try await hub.coordinator.confirmHandOver("t") == id)
            try await hub.announced.wait(for: id, .completed)
            // The answer that was proven is the one that is used.
            #expect(server.requests.count == 1)
            #expect(try await hub.record(paused)?.state == .paused)

            let held = server.url("/held.bin")
            let foreign = hub.wish(held) { $0.owner = "org.example.App" }
            let others = try await hub.coordinator.add([foreign], token: nil)
            await server.waitForRequest(count: 2)
            async let next = handOver(held, "u", to: hub)
            await server.waitForRequest(count: 3)
            gate.open()
            let own = try await next
            #expect(try await hub.coordinator.confirmHandOver("u") == own)
            #expect(!others.contains(own))
        }
    }

    @Test(arguments: ["user=alice", "user=bob"])
    func `without a validator a task of the same login alone is joined`(
        cookies: String
    ) async throws {
        var (file, hold) = ServedFile.held()
        (file.entityTag, file.lastModified) = (nil, nil)
        let server = try FaultServer.serving(file)
        defer {
            hold.until.open()
            server.stop()
        }
        try await withHub { hub in
            let url = server.url("/a.bin")
            let first = try await handOver(url, "t", to: hub) { $0.cookies = "user=alice" }
            #expect(try await hub.coordinator.confirmHandOver("t") == first)
            try await hub.arrival(of: 1 << 20, for: first)
            let second = try await handOver(url, "u", to: hub) { $0.cookies = cookies }
            let joined = try await hub.coordinator.confirmHandOver("u")
            #expect(joined == (cookies == "user=alice" ? first : second))
        }
    }

    @Test func `a newer file of the same URL is a task of its own`() async throws {
        let (old, hold) = ServedFile.held()
        let new = ServedFile(.large, entityTag: "\"v2\"")
        let isNew = FaultServer.Gate()
        let server = try FaultServer(
            script: .init { (isNew.isOpen ? new : old).answer(to: $0) }
        )
        defer {
            hold.until.open()
            server.stop()
        }
        try await withHub { hub in
            let first = try await handOver(server.url("/a.bin"), "t", to: hub)
            _ = try await hub.coordinator.confirmHandOver("t")
            try await hub.arrival(of: 1 << 20, for: first)
            isNew.open()
            let second = try await handOver(server.url("/a.bin"), "u", to: hub)
            #expect(try await hub.coordinator.confirmHandOver("u") == second)
        }
    }

    @Test func `a task that waits with its answer open is joined, and one that asks again is not`()
        async throws
    {
        let (file, hold) = ServedFile.held()
        let isNew = FaultServer.Gate()
        let server = try FaultServer(
            script: .init { request in
                var file = file
                if request.path == "/4.bin", isNew.isOpen { file.entityTag = "\"v2\"" }
                return file.answer(to: request)
            }
        )
        defer {
            hold.until.open()
            server.stop()
        }
        try await withHub(slots: 1) { hub in
            func click(_ number: Int, _ token: String) async throws -> (own: TaskID, TaskID) {
                let id = try await handOver(server.url("/\(number).bin"), token, to: hub)
                return (id, try await hub.coordinator.confirmHandOver(token))
            }
            var tasks: [TaskID] = []
            for number in 0...5 { tasks.append(try await click(number, "t\(number)").own) }
            // The first runs, and the last has found no place to wait with its answer open.
            #expect(await hub.coordinator.look { $0.slots.openAnswers } == 4)
            isNew.open()
            for number in 0...5 {
                let (own, confirmed) = try await click(number, "u\(number)")
                #expect(confirmed == (number < 4 ? tasks[number] : own), "\(number)")
            }
        }
    }

    @Test func `Confirms that come together make one task`() async throws {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        let held = HeldCommit()
        try await withHub(faults: held.faults) { hub in
            let url = server.url("/a.bin")
            for token in ["t", "u"] { _ = try await handOver(url, token, to: hub) }
            held.holdNext()
            defer { held.release() }
            let adding = Task { try await hub.add(server.url("/b.bin"), isPaused: true) }
            try await held.reached()
            let first = Task { try await hub.coordinator.confirmHandOver("t") }
            let second = Task { try await hub.coordinator.confirmHandOver("u") }
            try await soon("both confirmations to be next") {
                await hub.coordinator.look { $0.commits.waiting == 2 }
            }
            held.release()
            _ = try await adding.value
            let id = try await first.value
            #expect(try await second.value == id)
            try await hub.announced.wait(for: id, .completed)
            #expect(server.requests.count == 2)
        }
    }

    @Test func `an open answer outlasts what its transfer does not need to know`() async throws {
        let (held, hold) = ServedFile.held()
        let server = try FaultServer(
            script: .init { ($0.path == "/0.bin" ? held : ServedFile(.small)).answer(to: $0) }
        )
        defer {
            hold.until.open()
            server.stop()
        }
        try await withHub(slots: 1) { hub in
            let first = try await hub.add(server.url("/0.bin"))
            await hold.reached.waitUntilOpen()
            let id = try await handOver(server.url("/1.bin"), "t", to: hub) {
                $0.usesStoredLogins = false
            }
            _ = try await hub.coordinator.confirmHandOver("t")
            // The user chooses what becomes of the file, and adds the URL once more.
            var edit = TaskEdit()
            (edit.whenDone, edit.connections, edit.retryFor) = (.some(.open), .some(2), 60)
            try await hub.coordinator.edit(id, edit)
            try await hub.coordinator.set(id) { $0.connections = .some(3) }
            #expect(try await hub.add(server.url("/1.bin")) == id)
            #expect(await hub.coordinator.look { $0.slots.openAnswers } == 1)
            // The host asks another task to leave it alone, and then the slot becomes free.
            let origin = try #require(Origin(url: server.url("/")))
            hub.engine.hosts.rest(origin, for: .seconds(3600))
            try await hub.coordinator.carryOut(.pause, on: first)
            try await hub.announced.wait(for: id, .completed)
            #expect(server.requests.count == 2)
        }
    }

    @Test func `a page of links leaves its host connections, and all of them come`() async throws {
        let (file, hold) = ServedFile.held()
        let server = try FaultServer.serving(file)
        defer {
            hold.until.open()
            server.stop()
        }
        try await withHub(slots: 1) { hub in
            var tasks: [TaskID] = []
            for number in 0..<20 {
                let token = "t\(number)"
                tasks.append(try await handOver(server.url("/\(number).bin"), token, to: hub))
                _ = try await hub.coordinator.confirmHandOver(token)
            }
            #expect(await hub.coordinator.look { $0.slots.openAnswers } == 4)
            hold.until.open()
            for task in tasks { try await hub.announced.wait(for: task, .completed) }
        }
    }

    @Test func `a hand-over is answered while others still hear of an earlier change`()
        async throws
    {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        let gate = FaultServer.Gate()
        defer { gate.open() }
        try await withHub { hub in
            hub.announced.after { _ in await gate.waitUntilOpen() }
            let adding = Task { try await hub.add(server.url("/b.bin"), isPaused: true) }
            try await hub.announced.wait("the addition") { $0.contains(where: \.isAddition) }
            let answer = Task { try await handOver(server.url("/a.bin"), "t", to: hub) }
            let isAnswered = try? await within("the answer", limit: .seconds(10)) {
                try await answer.value
            }
            #expect(isAnswered != nil)
            gate.open()
            _ = try await adding.value
            _ = try await answer.value
        }
    }

    @Test func `a Confirm that shares the commit of its HandOver keeps the answer`() async throws {
        let gate = FaultServer.Gate()
        let server = try FaultServer(
            script: .init { [.wait(for: gate)] + ServedFile(.small).answer(to: $0) }
        )
        defer { server.stop() }
        let held = HeldCommit()
        try await withHub(faults: held.faults) { hub in
            let answer = Task { try await handOver(server.url("/a.bin"), "t", to: hub) }
            await server.waitForRequest()
            held.holdNext()
            defer { held.release() }
            let adding = Task { try await hub.add(server.url("/b.bin"), isPaused: true) }
            try await held.reached()
            gate.open()
            try await soon("the hand-over to be kept next") {
                await hub.coordinator.look { $0.commits.waiting == 1 }
            }
            let confirmed = Task { try await hub.coordinator.confirmHandOver("t") }
            try await soon("the confirmation to be next") {
                await hub.coordinator.look { $0.commits.waiting == 2 }
            }
            held.release()
            _ = try await adding.value
            let id = try await answer.value
            #expect(try await confirmed.value == id)
            try await hub.announced.wait(for: id, .completed)
            #expect(server.requests.count == 1)
            #expect(await hub.coordinator.look { $0.handOvers.isIdle })
        }
    }

    @Test func `a store that hangs holds up no Disagreed, and keeps nothing in the end`()
        async throws
    {
        let gate = FaultServer.Gate()
        let server = try FaultServer(
            script: .init { [.wait(for: gate)] + ServedFile(.small).answer(to: $0) }
        )
        defer { server.stop() }
        let held = HeldCommit()
        try await withService(faults: held.faults) { scene in
            let url = server.url("/a.bin")
            let answer = Task { try await scene.client.handOver(url, options: .init(token: "t")) }
            await server.waitForRequest()
            held.holdNext()
            defer { held.release() }
            gate.open()
            try await held.reached()
            let refusal = await code {
                _ = try await within("the answer", limit: .seconds(10)) { try await answer.value }
            }
            #expect(refusal == .disagreed)
            held.release()
            _ = await answer.result
            // Without the hand-over the token is free again.
            try await soon("the hand-over to be taken back") {
                await scene.coordinator.look { $0.handOvers.holdsNothing && $0.commits.isIdle }
            }
            #expect(await code { _ = try await scene.client.confirm("t") } == .noSuchTask)
        }
    }

    @Test func `the end of the service leaves what is provisional, and answers who waits`()
        async throws
    {
        let server = try FaultServer(
            script: .init { request in
                request.target == "/stall" ? [.stall] : ServedFile(.small).answer(to: request)
            }
        )
        defer { server.stop() }
        try await withTemporaryFolder { folder in
            try await withHub(in: folder) { hub in
                _ = try await handOver(server.url("/a.bin"), "kept", to: hub)
                let waiting = Task { try await handOver(server.url("/stall"), "lost", to: hub) }
                await server.waitForRequest(count: 2)
                await hub.coordinator.stop()
                await #expect(throws: ServiceRefusal.stopping) { try await waiting.value }
                await #expect(throws: ServiceRefusal.stopping) {
                    try await hub.coordinator.confirmHandOver("kept")
                }
            }
            try await withHub(in: folder) { hub in
                #expect(try await state("lost", in: hub) == nil)
                let id = try await hub.coordinator.confirmHandOver("kept")
                try await soon("the task to be completed") {
                    try await hub.record(id)?.state == .completed
                }
            }
        }
    }

    @Test func `a private task leaves the list with its completion`() async throws {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        try await withHub { hub in
            let id = try await handOver(server.url("/a.bin"), "t", to: hub) { request in
                request.isPrivate = true
                request.referrer = "http://a/page"
            }
            _ = try await hub.coordinator.confirmHandOver("t")
            let end = try? await hub.coordinator.end(of: id, for: ":1.1")
            // It may have been over before anybody asked.
            #expect(end == .completed || end == nil)
            try await soon("the task to be gone") { try await hub.record(id) == nil }
            #expect(try await hub.coordinator.counts().total == 0)
            #expect(hub.holds(.small, as: "a.bin"))
        }
    }
}
