// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Synchronization
import Testing
import iDownTesting

/// What a proxy tells of an object that comes, changes and goes.
@Suite(.timeLimit(.minutes(2))) struct ProxyTests {
    private static let name: BusName = "org.example.Owned"

    @Test func `a declared signal arrives as its types, and others are left out`() async throws {
        try await withServiceAndClient { service, client, _ in
            _ = try await service.requestName(Self.name)
            let proxy = Proxy(client, Self.name, samplePath, "org.example.Any")
            let signals = try await proxy.signals(sampleChanged)
            try await service.emit(sampleInterface, "Changed", at: samplePath, [.string("short")])
            try await service.emit(
                sampleInterface,
                "Changed",
                at: samplePath,
                [.string("wrong"), .byte(1)]
            )
            try await service.emit(sampleChanged, at: "/org/example/Other", "elsewhere", [:])
            try await service.emit(sampleChanged, at: samplePath, "right", ["A": .byte(1)])
            var iterator = signals.makeAsyncIterator()
            let (id, values) = try #require(try await iterator.next())
            #expect(id == "right" && values == ["A": .byte(1)])
        }
    }

    @Test func `the owner comes first, and then changes and signals in their order`() async throws {
        try await withServiceAndClient { service, client, bus in
            let proxy = Proxy(client, Self.name, samplePath, sampleInterface)
            #expect(try await proxy.owner == nil)
            var events = try await proxy.events().makeAsyncIterator()
            var owners = try await proxy.owners().makeAsyncIterator()
            var all = try await proxy.events(ofAllObjects: true).makeAsyncIterator()
            let first = await service.uniqueName
            // Before it owns the name its signals are none of the proxy's.
            try await service.emit(sampleChanged, at: samplePath, "early", [:])
            _ = try await service.requestName(Self.name)
            try await service.emit(sampleChanged, at: "/org/example/Other", "elsewhere", [:])
            try await service.emit(sampleChanged, at: samplePath, "here", [:])
            try await service.releaseName(Self.name)
            for expected: BusName? in [nil, first] {
                #expect(try await events.next()?.owner == .some(expected))
                #expect(try await all.next()?.owner == .some(expected))
            }
            for expected: BusName? in [nil, first, nil] {
                #expect(try await owners.next() == .some(expected))
            }
            #expect(try await all.next()?.signal?.path == "/org/example/Other")
            let signal = try #require(try await events.next()?.signal)
            #expect(sampleChanged.contents(of: signal)?.0 == "here")
            #expect(try await events.next()?.owner == .some(nil))
        }
    }

    /// Serves two properties and counts how often all of them are asked for.
    private func serve(_ connection: Connection, asked: Counter) async throws {
        let table = Interface(
            sampleInterface,
            [
                .property("Size", get: { _ in UInt32(7) }),
                .property("Name", .invalidates, get: { _ in "\(asked.value)" }),
            ],
            snapshot: { _ in
                WireWriter(
                    ["Size": .uint32(7), "Name": .string("\(asked.increment())")]
                        as [String: Value]
                )
            }
        )
        try await connection.export([table], at: samplePath)
    }

    @Test func `properties are asked for once, and again only when what is known does not hold`()
        async throws
    {
        try await withServiceAndClient { service, client, bus in
            let asked = Counter()
            try await serve(service, asked: asked)
            _ = try await service.requestName(Self.name)
            let cache = try await Proxy(client, Self.name, samplePath, sampleInterface).properties()
            var changes = cache.changes.makeAsyncIterator()
            // The owner.
            await changes.next()
            #expect(try await cache.get("Size", as: UInt32.self) == 7)
            #expect(try await cache.get("Name", as: String.self) == "1")
            let changed = Interface.propertiesChanged
            let name = sampleInterface.rawValue
            let foreign = "org.example.Other"
            try await service.emit(changed, at: samplePath, foreign, ["Size": .uint32(1)], [])
            try await service.emit(changed, at: samplePath, name, ["Size": .uint32(9)], [])
            await changes.next()
            #expect(try await cache.get("Size", as: UInt32.self) == 9)
            #expect(asked.value == 1)
            try await service.emit(changed, at: samplePath, name, [:], ["Name"])
            await changes.next()
            #expect(try await cache.get("Name", as: String.self) == "2")
            #expect(try await cache.get("Size", as: UInt32.self) == 7)
            // Another owner has other values.
            let second = try await Connection.open(.address(bus.address))
            try await serve(second, asked: asked)
            try await service.releaseName(Self.name)
            await changes.next()
            await #expect(throws: BusError.self) { try await cache.all() }
            _ = try await second.requestName(Self.name)
            await changes.next()
            #expect(try await cache.get("Name", as: String.self) == "3")
            let unknown = await #expect(throws: BusError.self) {
                try await cache.get("Absent", as: String.self)
            }
            #expect(unknown?.name == "org.freedesktop.DBus.Error.UnknownProperty")
            let other = await #expect(throws: BusError.self) {
                try await cache.get("Name", as: Bool.self)
            }
            #expect(other?.name == "org.freedesktop.DBus.Error.InconsistentMessage")
            await client.close()
            #expect(await changes.next() == nil)
            await second.close()
        }
    }

    @Test func `a property of a type that nobody knows is a value`() async throws {
        try await withServiceAndClient { service, client, _ in
            let number = Mutex<Int64>(3)
            let interface = Interface(
                "org.example.Number",
                [
                    .property(
                        "Number",
                        get: { (_: Call) -> Int64 in number.withLock { $0 } },
                        set: { (_: Call, value: Int64) in number.withLock { $0 = value } }
                    )
                ]
            )
            try await service.export([interface], at: "/number")
            let name = await service.uniqueName
            let proxy = Proxy(client, name, "/number", "org.example.Number")
            #expect(try await proxy.get("Number", as: Value.self) == .int64(3))
            try await proxy.set("Number", to: Value.int64(4))
            #expect(try await proxy.get("Number", as: Int64.self) == 4)
            let cache = try await proxy.properties()
            #expect(try await cache.get("Number", as: Value.self) == .int64(4))
        }
    }

    @Test func `open files beyond what a message may carry are refused, and nothing is lost`()
        async throws
    {
        try await withServiceAndClient { service, client, _ in
            let interface = Interface(
                "org.example.Files",
                [
                    .method("Take", in: ["files"], out: ["count"]) {
                        (_: Call, files: [OpenDescriptor]) in UInt32(files.count)
                    },
                    .method("Spoil", out: ["text"]) { (_: Call) in "\0" },
                ]
            )
            try await service.export([interface], at: "/files")
            let name = await service.uniqueName
            let proxy = Proxy(client, name, "/files", "org.example.Files")
            let file = OpenDescriptor(owning: dup(0))
            for count in [OpenDescriptor.mostInMessage + 1, OpenDescriptor.mostInMessage] {
                let files = [OpenDescriptor](repeating: file, count: count)
                do throws(BusError) {
                    let taken = try await proxy.call("Take", files, returning: UInt32.self)
                    #expect(taken == UInt32(count) && count == OpenDescriptor.mostInMessage)
                } catch {
                    #expect(error.name == BusError.limitsExceeded("").name, "\(error)")
                    #expect(count > OpenDescriptor.mostInMessage)
                }
            }
            // The caller's arguments were right.
            do throws(BusError) {
                _ = try await proxy.call("Spoil", returning: String.self)
                Issue.record("U+0000 was sent")
            } catch {
                #expect(error.name == BusError.failed("").name, "\(error)")
            }
        }
    }

    @Test func `a call says whether it starts the service, and how long it waits`() async throws {
        try await withServiceAndClient { service, client, _ in
            let gate = FaultServer.Gate()
            defer { gate.open() }
            let table = Interface(
                sampleInterface,
                [.method("Hang") { (_: Call) async in await gate.waitUntilOpen() }]
            )
            try await service.export([table], at: samplePath)
            let proxy = Proxy(
                client,
                await service.uniqueName,
                samplePath,
                sampleInterface,
                timeout: .milliseconds(20)
            )
            let error = await #expect(throws: BusError.self) { try await proxy.call("Hang") }
            #expect(error?.isNoReply == true)
            // The bus would say that it cannot start it.
            let idle = Proxy(client, "org.example.Idle", "/", sampleInterface, startsService: false)
            let absent = await #expect(throws: BusError.self) { try await idle.call("Hang") }
            #expect(absent?.name == "org.freedesktop.DBus.Error.NameHasNoOwner")
            let unknown = await #expect(throws: BusError.self) {
                try await idle.call("Hang", startsService: true)
            }
            #expect(unknown?.name == "org.freedesktop.DBus.Error.ServiceUnknown")
        }
    }
}

private final class Counter: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock(\.self) }

    func increment() -> Int {
        count.withLock {
            $0 += 1
            return $0
        }
    }
}

extension Proxy.Event {
    /// The owner that the event tells; nil for a signal.
    fileprivate var owner: BusName?? {
        if case .owner(let owner) = self { .some(owner) } else { nil }
    }

    fileprivate var signal: SignalMessage? {
        if case .signal(let signal) = self { signal } else { nil }
    }
}
