// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import Testing
import iDownTesting

@testable import DBus

extension Connection {
    fileprivate var longAnswerCount: Int { longAnswers.count }

    /// Calls a method of the sample and asks for no reply.
    fileprivate func post(_ member: MemberName, to service: BusName) throws(BusError) {
        let message = try Message(
            call: service,
            samplePath,
            sampleInterface,
            member,
            wantsReply: false,
            libdbus: libdbus
        )
        try openLink().send(message)
    }
}

@Suite(.timeLimit(.minutes(2))) struct PendingCallTests {
    private static let exceeded: ErrorName = "org.example.Error.LimitExceeded"

    /// Handlers that wait until the test lets them go, and what has been called.
    private final class Desk: Sendable {
        private struct State {
            var called: [String] = []
            var waiting: [CheckedContinuation<Void, Never>] = []
        }

        private let state = Mutex(State())

        var called: [String] { state.withLock { $0.called } }

        func note(_ name: String) { state.withLock { $0.called.append(name) } }

        func hold() async {
            await withCheckedContinuation { waiter in
                state.withLock { $0.waiting.append(waiter) }
            }
        }

        func letGo() {
            let waiting = state.withLock { state in
                defer { state.waiting = [] }
                return state.waiting
            }
            for waiter in waiting { waiter.resume() }
        }

        var interface: Interface {
            Interface(
                sampleInterface,
                [
                    .method("Hold", in: ["text"]) { (_: Call, text: String) async throws in
                        self.note("Hold\(text.prefix(9))")
                        await self.hold()
                    },
                    .method("MakeWay") { (call: Call) async throws in
                        call.makeWay()
                        self.note("MakeWay")
                        await self.hold()
                    },
                    .method("Wait", .wait) { (_: Call) async throws in await self.hold() },
                    .method(
                        "Peek",
                        .query,
                        now: { (_: Call) in
                            self.note("Peek")
                            return WireWriter()
                        }
                    ) { (_: Call) async throws in self.note("Peek") },
                    .method("Look", .query) { (_: Call) in self.note("Look") },
                    .method("Change") { (_: Call) in self.note("Change") },
                    .method("Count", in: ["texts"], out: ["count"]) {
                        (_: Call, texts: [String]) async throws -> UInt32 in
                        self.note("Count")
                        return UInt32(texts.count)
                    },
                    .method("Long", out: ["text"]) { (_: Call) async throws -> String in
                        self.note("Long")
                        await self.hold()
                        return String(repeating: "x", count: 100_000)
                    },
                    .method("Short", out: ["text"]) { (_: Call) async throws -> String in
                        self.note("Short")
                        await self.hold()
                        return "short"
                    },
                ]
            )
        }
    }

    private func serve(
        _ limits: CallLimits,
        _ body: (Desk, Proxy, Connection, PrivateBus) async throws -> Void
    ) async throws {
        try await withServiceAndClient { service, client, bus in
            let desk = Desk()
            defer { desk.letGo() }
            await service.limitCalls(limits)
            try await service.export([desk.interface], at: samplePath)
            let name = await service.uniqueName
            let proxy = Proxy(client, name, samplePath, sampleInterface)
            try await body(desk, proxy, service, bus)
        }
    }

    private var limits: CallLimits {
        var limits = CallLimits()
        limits.error = Self.exceeded
        return limits
    }

    /// Sends calls of Hold; those that are not refused wait.
    private func hold(_ proxy: Proxy, _ text: String = "") -> Task<Result<Void, BusError>, Never> {
        Task.immediate {
            do throws(BusError) {
                return .success(try await proxy.call("Hold", text))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Expects a call to be refused by the limits.
    private func refused(_ call: () async throws -> Void) async throws {
        let error = await #expect(throws: BusError.self) { try await call() }
        #expect(error?.name == Self.exceeded)
    }

    @Test func `calls that wait for something to happen take no place of others`() throws {
        let loop = try EventLoop()
        defer { loop.end() }
        let calls = PendingCalls(loop)
        for serial in 1...70_000 as ClosedRange<UInt32> {
            let reply = ReplyAddress(serial: serial, sender: ":1.1")
            _ = calls.begin(reply, wantsReply: true, size: nil)
        }
        try calls.check(":1.2")
    }

    @Test func `one client's calls are limited, and take nothing from another's`() async throws {
        var limits = limits
        limits.calls = 3
        try await serve(limits) { desk, proxy, service, bus in
            let held = (0..<3).map { _ in hold(proxy) }
            try await soon("the calls") { desk.called.count == 3 }
            try await refused { try await proxy.call("Change") }
            let other = try await Connection.open(.address(bus.address))
            try await Proxy(other, await service.uniqueName, samplePath, sampleInterface)
                .call("Change")
            desk.letGo()
            for call in held { try await call.value.get() }
            try await proxy.call("Change")
            await other.close()
        }
    }

    @Test func `some calls of one client are served at once, in their order, beside another's`()
        async throws
    {
        try await serve(limits) { desk, proxy, service, bus in
            let held = (0..<600).map { hold(proxy, "\($0)") }
            try await soon("the first calls") { desk.called.count == 128 }
            let other = try await Connection.open(.address(bus.address))
            try await Proxy(other, await service.uniqueName, samplePath, sampleInterface)
                .call("Change")
            #expect(desk.called == (0..<128).map { "Hold\($0)" } + ["Change"])
            let letting = Task {
                while !Task.isCancelled {
                    desk.letGo()
                    await Task.yield()
                }
            }
            for call in held { try await call.value.get() }
            letting.cancel()
            #expect(desk.called.filter { $0 != "Change" } == (0..<600).map { "Hold\($0)" })
            await other.close()
        }
    }

    @Test func `calls that make way hold up no others, and are limited with them`() async throws {
        var limits = limits
        limits.calls = 300
        try await serve(limits) { desk, proxy, _, _ in
            let held = (0..<299).map { _ in Task.immediate { try await proxy.call("MakeWay") } }
            try await soon("the calls") { desk.called.count == 299 }
            try await proxy.call("Change")
            let last = hold(proxy)
            try await soon("the last call") { desk.called.count == 301 }
            try await refused { try await proxy.call("Change") }
            desk.letGo()
            for call in held { try await call.value }
            try await last.value.get()
        }
    }

    @Test func `what is at hand does not overtake its sender's line`() async throws {
        try await serve(limits) { desk, proxy, service, bus in
            let held = (0..<130).map { hold(proxy, "\($0)") }
            let peek = Task.immediate { try await proxy.call("Peek") }
            try await proxy.at(nil, "org.freedesktop.DBus.Peer").call("Ping")
            #expect(desk.called == (0..<128).map { "Hold\($0)" })
            let letting = Task {
                while !Task.isCancelled {
                    desk.letGo()
                    await Task.yield()
                }
            }
            try await peek.value
            for call in held { try await call.value.get() }
            letting.cancel()
            #expect(desk.called == (0..<130).map { "Hold\($0)" } + ["Peek"])
        }
    }

    @Test func `calls are weighed, and one that is too heavy is taken alone`() async throws {
        var limits = limits
        limits.bytes = 10_000
        let heavy = String(repeating: "x", count: 20_000)
        try await serve(limits) { desk, proxy, _, _ in
            let first = hold(proxy, heavy)
            try await soon("the call") { desk.called.count == 1 }
            try await refused { try await proxy.call("Change") }
            desk.letGo()
            try await first.value.get()
            let light = hold(proxy)
            try await soon("the call") { desk.called.count == 2 }
            try await proxy.call("Change")
            try await refused { try await proxy.call("Hold", heavy) }
            desk.letGo()
            try await light.value.get()
        }
    }

    @Test func `a sender may have a part of the limits`() async throws {
        var limits = limits
        limits.calls = 20
        limits.parts = { $0.isUnique ? 10 : 1 }
        try await serve(limits) { desk, proxy, _, _ in
            let held = (0..<2).map { _ in hold(proxy) }
            try await soon("the calls") { desk.called.count == 2 }
            try await refused { try await proxy.call("Change") }
            desk.letGo()
            for call in held { try await call.value.get() }
        }
    }

    @Test func `calls that wait for something do not count`() async throws {
        var limits = limits
        limits.calls = 1
        try await serve(limits) { desk, proxy, _, _ in
            let waits = (0..<5).map { _ in
                Task.immediate { try await proxy.call("Wait") }
            }
            for _ in 0..<3 { try await proxy.call("Change") }
            desk.letGo()
            for wait in waits { try await wait.value }
        }
    }

    @Test func `what would fill the memory is refused before it is read`() async throws {
        var limits = limits
        limits.memory = 1 << 20
        try await serve(limits) { desk, proxy, _, _ in
            let texts = [String](repeating: "", count: 100_000)
            try await refused { _ = try await proxy.call("Count", texts, returning: UInt32.self) }
            #expect(desk.called.isEmpty)
            let few = [String](repeating: "", count: 1_000)
            #expect(try await proxy.call("Count", few, returning: UInt32.self) == 1_000)
        }
    }

    @Test func `a query that wants no reply is not carried out, a change is`() async throws {
        try await serve(limits) { desk, proxy, service, _ in
            let name = await service.uniqueName
            try await proxy.connection.post("Look", to: name)
            try await proxy.connection.post("Change", to: name)
            try await proxy.call("Look")
            #expect(desk.called == ["Change", "Look"])
        }
    }

    @Test func `a long answer waits behind a short one where the bus is slow`() async throws {
        try await serve(limits) { desk, proxy, service, bus in
            let calls = ["Long", "Short"].map { member in
                Task.immediate {
                    let name = try MemberName(validating: member)
                    _ = try await proxy.call(name, returning: String.self)
                }
            }
            try await soon("the calls") { desk.called.count == 2 }
            kill(bus.processID, SIGSTOP)
            defer { kill(bus.processID, SIGCONT) }
            let text = String(repeating: "x", count: 1 << 16)
            while await service.outgoingBytes == 0 {
                try await service.emit(sampleInterface, "Changed", at: samplePath, [.string(text)])
            }
            let before = await service.outgoingBytes
            desk.letGo()
            // The short one is with libdbus, and the long one waits until that has been sent.
            try await soon("the answers") {
                let sizes = await (service.outgoingBytes, service.longAnswerCount)
                return sizes.0 > before && sizes.0 < before + 10_000 && sizes.1 == 1
            }
            kill(bus.processID, SIGCONT)
            for call in calls { try await call.value }
        }
    }
}

@Suite(.timeLimit(.minutes(2))) struct DroppedConnectionTests {
    private static var openFiles: Int {
        get throws { try #require(FileNames("/proc/self/fd")).count }
    }

    /// Where the kernel tells of the calling thread: proc(5), /proc/thread-self.
    private static var thread: String {
        var name = [CChar](repeating: 0, count: 64)
        _ = readlink("/proc/thread-self", &name, 63)
        return "/proc/" + String(decoding: name.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
    }

    @Test func `a connection that is dropped unclosed takes its thread and files along`()
        async throws
    {
        try await withPrivateBus { bus in
            let before = try Self.openFiles
            let threads = Mutex<[String]>([])
            for _ in 0..<100 {
                let connection = try await Connection.open(.address(bus.address))
                try await connection.export([sample()], at: samplePath)
                let name = await connection.uniqueName
                let proxy = Proxy(connection, name, samplePath, sampleInterface)
                #expect(try await proxy.call("Join", "a", "b", returning: String.self) == "ab")
                connection.executor.post {
                    threads.withLock { $0.append(Self.thread) }
                }
            }
            try await soon("the threads to end") {
                threads.withLock { $0.count } == 100
                    && threads.withLock { $0 }.allSatisfy { access($0, F_OK) != 0 }
            }
            // Of three each; other tests open some meanwhile.
            #expect(try Self.openFiles < before + 100)
        }
    }
}

/// The names in a folder; nil where there is none.
private struct FileNames {
    let count: Int

    init?(_ path: String) {
        guard let folder = opendir(path) else { return nil }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        self.count = count
    }
}
