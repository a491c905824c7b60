// SPDX-License-Identifier: Apache-2.0

import Curl
import DBus
import Testing
import iDownBus
import iDownData
import iDownState
import iDownTesting
import iDownloader

@testable import iDownService

/// Tasks that wait for a host or for the network.
@Suite(.timeLimit(.minutes(2))) struct CoordinatorHoldsTests {
    private static let busy: [(String, String)] = [("Content-Length", "0"), ("Retry-After", "600")]

    /// A host that wants to be left alone for ten minutes, and another one.
    private func withHosts(
        slots: Int = 1,
        _ body: (Hub, _ busy: FaultServer, _ other: FaultServer) async throws -> Void
    ) async throws {
        let busy = try FaultServer(
            script: .init { request in
                request.number == 1
                    ? [.head("503 Busy", Self.busy)] : ServedFile(.small).answer(to: request)
            }
        )
        defer { busy.stop() }
        let other = try FaultServer.serving(ServedFile(.small))
        defer { other.stop() }
        try await withHub(slots: slots) { try await body($0, busy, other) }
    }

    /// A host that leads elsewhere, whatever it is asked for.
    private static func redirecting(to target: String) throws -> FaultServer {
        try FaultServer(
            script: .init { _ in
                [.head("302 Found", [("Location", target), ("Content-Length", "0")])]
            }
        )
    }

    // MARK: Hosts

    @Test func `the other tasks of a host that rests wait as long, and those of others run`()
        async throws
    {
        try await withHosts { hub, busy, other in
            let first = try await hub.add(busy.url("/a"))
            try await hub.announced.wait(for: first, hold: "retry")
            let second = try await hub.add(busy.url("/b"))
            let third = try await hub.add(other.url("/c"))
            try await hub.announced.wait(for: third, .completed)
            try await hub.announced.wait(for: second, hold: "retry")
            let deadline = try #require(try await hub.deadline(of: first))
            let held = try #require(try await hub.deadline(of: second))
            // The wish counts from the answer; the spread comes on top for the first alone.
            #expect(held <= deadline)
            #expect(deadline.since(held) < .seconds(5))
            #expect(try await hub.record(second)?.tries == 0)
            #expect(busy.requests.count == 1)
        }
    }

    @Test func `Explain says that a host asked for a pause, and when the wait ends`() async throws {
        try await withHosts { hub, busy, _ in
            let first = try await hub.add(busy.url("/a"))
            try await hub.announced.wait(for: first, hold: "retry")
            let second = try await hub.add(busy.url("/b"))
            try await hub.announced.wait(for: second, hold: "retry")
            let own = try await hub.coordinator.reasons(for: first).map(\.data)
            #expect(own.map(\.code) == ["retry", "gives-up"])
            #expect(own.first?.values["error"] == .string("Server.Busy"))
            let held = try await hub.coordinator.reasons(for: second).map(\.data)
            #expect(held.map(\.code) == ["host-rests", "gives-up"])
            let deadline = try #require(try await hub.deadline(of: second))
            let told = try #require(held.first?.values["at"])
            guard case .uint64(let end) = told else {
                Issue.record("\(told) is no time")
                return
            }
            let right = UInt64(deadline.microseconds)
            #expect((right - 2_000_000...right + 2_000_000).contains(end))
            // Its host has not answered it yet.
            #expect(held.last?.values["tries"] == .uint32(8))
            // The pause counts as time without progress.
            let record = try #require(try await hub.record(second))
            #expect(record.waited > .seconds(590))
        }
    }

    @Test func `a redirect to a host that rests is not followed yet, and costs no try`()
        async throws
    {
        try await withHosts { hub, busy, _ in
            let first = try await hub.add(busy.url("/a"))
            try await hub.announced.wait(for: first, hold: "retry")
            let door = try Self.redirecting(to: busy.url("/c"))
            defer { door.stop() }
            let id = try await hub.add(door.url("/c"))
            try await hub.announced.wait(for: id, hold: "retry")
            let record = try #require(try await hub.record(id))
            #expect(record.tries == 0)
            #expect(record.failure == nil)
            #expect(busy.requests.count == 1)
            await hub.transferEnd(of: id)
        }
    }

    @Test func `a try by hand asks the host all the same, and wakes the others of it`()
        async throws
    {
        try await withHosts { hub, busy, _ in
            let first = try await hub.add(busy.url("/a"))
            try await hub.announced.wait(for: first, hold: "retry")
            let second = try await hub.add(busy.url("/b"))
            try await hub.announced.wait(for: second, hold: "retry")
            try await hub.coordinator.carryOut(.retry, on: first)
            try await hub.announced.wait(for: first, .completed)
        }
    }

    /// Whether the host was known to rest before, or says so to this task.
    @Test(arguments: [true, false])
    func `a try by hand asks also the host to which a redirect leads`(
        isKnown: Bool
    ) async throws {
        try await withHosts { hub, busy, _ in
            if isKnown {
                let first = try await hub.add(busy.url("/a"))
                try await hub.announced.wait(for: first, hold: "retry")
            }
            let door = try Self.redirecting(to: busy.url("/c"))
            defer { door.stop() }
            let id = try await hub.add(door.url("/c"))
            try await hub.announced.wait(for: id, hold: "retry")
            try await hub.coordinator.carryOut(.retry, on: id)
            try await hub.announced.wait(for: id, .completed)
        }
    }

    @Test func `Explain says that other downloads have all connections to a host`() async throws {
        let server = try FaultServer(script: .init { _ in [.stall] })
        defer { server.stop() }
        try await withHub(slots: HostLimits.most + 1) { hub in
            let wishes = (0...HostLimits.most).map { hub.wish(server.url("/\($0)")) }
            let ids = try await hub.coordinator.add(wishes, token: nil)
            @Sendable func waiting() async throws -> [TaskID] {
                var found: [TaskID] = []
                for id in ids {
                    let codes = try await hub.coordinator.reasons(for: id).map(\.data.code)
                    if codes == ["host-full"] { found.append(id) }
                }
                return found
            }
            try await soon("one to wait for a connection") { try await waiting().count == 1 }
            let last = try await waiting()
            let other = try #require(ids.first { !last.contains($0) })
            try await hub.coordinator.carryOut(.pause, on: other)
            try await soon("its connection") { try await waiting().isEmpty }
        }
    }

    @Test func `the rest of a host outlives a restart`() async throws {
        try await withTemporaryFolder { folder in
            try await withHosts { _, busy, _ in
                let first = try await withHub(in: folder, slots: 1) { hub in
                    let first = try await hub.add(busy.url("/a"))
                    try await hub.announced.wait(for: first, hold: "retry")
                    return first
                }
                try await withHub(in: folder, slots: 1) { hub in
                    let second = try await hub.add(busy.url("/b"))
                    try await hub.announced.wait(for: second, hold: "retry")
                    let deadline = try #require(try await hub.deadline(of: first))
                    let held = try #require(try await hub.deadline(of: second))
                    #expect(deadline.since(held) < .seconds(5))
                }
                #expect(busy.requests.count == 1)
            }
        }
    }

    @Test func `of a queue of thousands only some are told, and the others of it are passed over`()
        async throws
    {
        try await withHosts { hub, busy, other in
            let first = try await hub.add(busy.url("/a"))
            try await hub.announced.wait(for: first, hold: "retry")
            let wishes = (0..<1_000).map { hub.wish(busy.url("/\($0)"), priority: 1) }
            _ = try await hub.coordinator.add(wishes, token: nil)
            let last = try await hub.add(other.url("/last"))
            try await hub.announced.wait(for: last, .completed)
            let records = try await hub.records
            let held = records.count { $0.state.isBackOff }
            #expect(held > 1 && held <= Admission.mostHeld)
            #expect(records.count { $0.state == .waiting(.queue) } == 1_001 - held)
            let queued = try #require(records.last { $0.state == .waiting(.queue) })
            let reason = try await hub.coordinator.reasons(for: queued.id).map(\.text).first
            #expect(reason == "retry in 10 min (the server is busy, or asked for a pause)")
            #expect(busy.requests.count == 1)
        }
    }

    // MARK: The network

    @Test func `without a network other hosts wait, and this computer is asked`() async throws {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        try await withHub(slots: 1) { hub in
            await hub.coordinator.setOnline(false)
            let far = try await hub.add("http://idown-test.invalid/a")
            let near = try await hub.add(server.url("/b"))
            try await hub.announced.wait(for: near, .completed)
            try await hub.announced.wait(for: far, hold: "offline")
            #expect(try await hub.record(far)?.failure == nil)
            #expect(try await hub.record(far)?.attempt == AttemptNumber.none)
        }
    }

    @Test func `when the network goes, what runs is held at once, and goes on when it is back`()
        async throws
    {
        let hold = ServedFile.Hold(afterBytes: 64 << 10)
        let file = ServedFile(TestContent(seed: 8, count: 1 << 20)).with { $0.hold = hold }
        // A host that is not this computer is asked through a proxy that is.
        let server = try FaultServer.serving(file)
        defer { server.stop() }
        var network = NetworkConfiguration()
        network.proxies = ProxyRules(proxy: server.url(), exceptions: "localhost")
        try await withHub(network: network) { hub in
            let far = try await hub.add("http://idown-test.invalid/far")
            let near = try await hub.add("http://localhost:\(server.port)/near")
            for id in [far, near] { try await hub.arrival(of: 64 << 10, for: id) }
            await hub.coordinator.setOnline(false)
            try await hub.announced.wait(for: far, hold: "offline")
            await hub.transferEnd(of: far)
            let record = try #require(try await hub.record(far))
            #expect(record.tries == 0)
            #expect(record.segments.byteCount == 64 << 10)
            #expect(try await hub.record(near)?.state == .downloading)
            hold.until.open()
            await hub.coordinator.setOnline(true)
            for id in [far, near] { try await hub.announced.wait(for: id, .completed) }
            #expect(hub.holds(file.content, as: "far"))
        }
    }

    /// The commit that would hold the task fails, so that the end of its transfer comes first.
    @Test func `what fails for want of a network burns no try and goes on when it is back`()
        async throws
    {
        let gate = FaultServer.Gate()
        let server = try FaultServer(script: .init { _ in [.wait(for: gate), .reset] })
        defer { server.stop() }
        var network = NetworkConfiguration()
        network.proxies = ProxyRules(proxy: server.url(), exceptions: "")
        let (clocks, faults) = (ClocksAhead(), CallFaults())
        try await withHub(faults: faults, network: network, time: clocks.time) { hub in
            let id = try await hub.add("http://idown-test.invalid/a")
            await server.waitForRequest()
            try await soon("the start to be told") {
                await hub.coordinator.look { $0.commits.isIdle }
            }
            let calls = faults.calls
            faults.failNext()
            await hub.coordinator.setOnline(false)
            try await soon("the commit that fails") { faults.calls > calls }
            #expect(try await hub.record(id)?.state == .downloading)
            gate.open()
            try await hub.announced.wait(for: id, hold: "offline")
            let record = try #require(try await hub.record(id))
            #expect(record.tries == 0)
            let mark = hub.announced.all.count
            await hub.coordinator.setOnline(true)
            clocks.pass(Coordinator.storeRetryInterval)
            try await hub.announced.wait(for: id, .downloading, after: mark)
            try await hub.announced.wait(for: id, hold: "retry", after: mark)
        }
    }

    @Test func `what the network has failed is tried at once when it is back, and nothing else`()
        async throws
    {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        let codes: [FailureCode] = [.networkReset, .serverBusy]
        try await withHub { store, files in
            for (number, code) in codes.enumerated() {
                try await store.insert(url: server.url("/\(number)"), directory: files) { record in
                    // Five minutes, the longest wait of all.
                    record.state = .waiting(.retry(at: WallTime(microseconds: 1 << 52)))
                    record.failure = Failure(code, "cut", isTransient: true)
                }
            }
        } _: { hub in
            await hub.coordinator.setOnline(false)
            await hub.coordinator.setOnline(true)
            let first = try #require(TaskID(rawValue: 1))
            try await hub.announced.wait(for: first, .completed)
            let second = try #require(TaskID(rawValue: 2))
            #expect(try await hub.record(second)?.state.isBackOff == true)
            #expect(server.requests.map(\.path) == ["/0"])
        }
    }

    @Test func `a verb ends the wait for a network, and a pause holds`() async throws {
        try await withHub { hub in
            await hub.coordinator.setOnline(false)
            let id = try await hub.add("http://idown-test.invalid/a")
            try await hub.announced.wait(for: id, hold: "offline")
            try await hub.coordinator.carryOut(.pause, on: id)
            let mark = hub.announced.all.count
            await hub.coordinator.setOnline(true)
            // A commit later nothing has moved.
            try await hub.coordinator.carryOut(.pause, on: id)
            #expect(try await hub.record(id)?.state == .paused)
            #expect(!hub.announced.all.dropFirst(mark).contains { $0.id == id })
        }
    }

    // MARK: The desktop's services

    @Test func `a meter stops what comes from elsewhere, and its end lets it go on`()
        async throws
    {
        try await withHub { hub in
            let coordinator = hub.coordinator
            await coordinator.setHoldSettings(HoldSettings(onMetered: true))
            hub.announced.after { announcement in
                guard announcement.kind == .downloading else { return }
                await coordinator.setConditions(
                    isCaptive: false,
                    isMetered: true,
                    isBatteryLow: false
                )
            }
            let id = try await hub.add("http://idown-test.invalid/a")
            try await hub.announced.wait(for: id, hold: "metered")
            hub.announced.after { _ in }
            await hub.transferEnd(of: id)
            #expect(try await hub.record(id)?.tries == 0)
            #expect(try await coordinator.reasons(for: id).map(\.text) == ["metered network"])
            let mark = hub.announced.all.count
            await coordinator.setHoldSettings(HoldSettings())
            try await hub.announced.wait(for: id, .downloading, after: mark)
        }
    }

    @Test func `a fresh link that leads elsewhere waits for the end of the meter`() async throws {
        let (file, hold) = ServedFile.held()
        let server = try FaultServer.serving(file)
        defer { server.stop() }
        try await withHub { hub in
            let coordinator = hub.coordinator
            await coordinator.setHoldSettings(HoldSettings(onMetered: true))
            await coordinator.setConditions(
                isCaptive: false,
                isMetered: true,
                isBatteryLow: false
            )
            let id = try await hub.add(server.url("/a"))
            await hold.reached.waitUntilOpen()
            #expect(try await hub.record(id)?.state == .downloading)
            var edit = TaskEdit()
            edit.url = "http://idown-test.invalid/a"
            try await coordinator.edit(id, edit)
            try await hub.announced.wait(for: id, hold: "metered")
            await hub.transferEnd(of: id)
        }
    }

    @Test func `a low battery stops all, keeps the bytes, and what waits is passed over`()
        async throws
    {
        let (file, hold) = ServedFile.held()
        let server = try FaultServer.serving(file)
        defer { server.stop() }
        try await withHub(slots: 1) { hub in
            await hub.coordinator.setHoldSettings(HoldSettings(onLowBattery: true))
            let id = try await hub.add(server.url("/a"))
            try await hub.arrival(of: 1 << 20, for: id)
            let other = try await hub.add(server.url("/b"))
            await hub.coordinator.setConditions(
                isCaptive: false,
                isMetered: false,
                isBatteryLow: true
            )
            try await hub.announced.wait(for: id, hold: "battery")
            try await hub.announced.wait(for: other, hold: "battery")
            await hub.transferEnd(of: id)
            #expect(try await hub.record(id)?.segments.byteCount ?? 0 >= 1 << 20)
            #expect(try await hub.coordinator.reasons(for: other).map(\.text) == ["low battery"])
            hold.until.open()
            await hub.coordinator.setConditions(
                isCaptive: false,
                isMetered: false,
                isBatteryLow: false
            )
            try await hub.announced.wait(for: id, .completed)
            try await hub.announced.wait(for: other, .completed)
        }
    }

    @Test func `while the proxy is unknown nobody is asked, and what runs goes on afterwards`()
        async throws
    {
        let (file, hold) = ServedFile.held()
        let server = try FaultServer.serving(file)
        defer { server.stop() }
        try await withHub(slots: 1) { hub in
            let id = try await hub.add(server.url("/a"))
            try await hub.arrival(of: 1 << 20, for: id)
            await hub.coordinator.setHoldSettings(HoldSettings(onSettings: "Proxy is wrong"))
            try await hub.announced.wait(for: id, hold: "settings")
            await hub.transferEnd(of: id)
            #expect(try await hub.record(id)?.segments.byteCount ?? 0 >= 1 << 20)
            #expect(
                try await hub.coordinator.reasons(for: id).map(\.text)
                    == ["settings: Proxy is wrong"]
            )
            let requests = server.requests.count
            // A verb starts nothing, and a later task waits too.
            try await hub.coordinator.carryOut(.pause, on: id)
            let mark = hub.announced.all.count
            try await hub.coordinator.carryOut(.resume, on: id)
            try await hub.announced.wait(for: id, hold: "settings", after: mark)
            let other = try await hub.add(server.url("/b"))
            try await hub.announced.wait(for: other, hold: "settings")
            #expect(try await hub.record(id)?.tries == 0)
            #expect(server.requests.count == requests)
            hold.until.open()
            await hub.coordinator.setHoldSettings(HoldSettings())
            try await hub.announced.wait(for: id, .completed)
            try await hub.announced.wait(for: other, .completed)
        }
    }

    @Test func `behind a portal nothing is asked for, and no try is burned`() async throws {
        try await withHub { hub in
            await hub.coordinator.setConditions(
                isCaptive: true,
                isMetered: false,
                isBatteryLow: false
            )
            let id = try await hub.add("http://idown-test.invalid/a")
            try await hub.announced.wait(for: id, hold: "offline")
            #expect(try await hub.record(id)?.attempt == AttemptNumber.none)
        }
    }

    @Test func `a restart looks at the network anew`() async throws {
        try await withTemporaryFolder { folder in
            let id = try await withHub(in: folder) { hub in
                await hub.coordinator.setOnline(false)
                let id = try await hub.add("http://idown-test.invalid/a")
                try await hub.announced.wait(for: id, hold: "offline")
                return id
            }
            let state = try await withHub(in: folder, begins: false) { hub in
                try await hub.record(id)?.state
            }
            #expect(state == .waiting(.queue))
        }
    }
}
