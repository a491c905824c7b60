// SPDX-License-Identifier: Apache-2.0

import CLinux
import DBus
import Glibc
import Logging
import Synchronization
import Testing
import iDownTesting

@testable import iDownService

@Suite struct CallersTests {
    /// A stand-in for the bus, which tells of connections what a test wants.
    private final class Authority: Sendable {
        typealias Answer = @Sendable (_ name: String) throws -> [String: Value]

        private let asked = Mutex<[String: Int]>([:])
        private let answer: Answer

        init(_ answer: @escaping Answer) { self.answer = answer }

        /// How many times a connection was asked about.
        func count(of name: BusName) -> Int { asked.withLock { $0[name.rawValue] ?? 0 } }

        func credentials(of name: String) throws -> [String: Value] {
            asked.withLock { $0[name, default: 0] += 1 }
            return try answer(name)
        }
    }

    /// What a bus of today tells of a connection of this process.
    private static let thisProcess: [String: Value] = ["ProcessID": .uint32(UInt32(getpid()))]

    /// Keeps what is logged.
    private final class Lines: LogHandler {
        let all = Mutex<[String]>([])
        var metadata: Logger.Metadata {
            get { [:] }
            set {}
        }
        var logLevel: Logger.Level {
            get { .trace }
            set {}
        }

        subscript(metadataKey _: String) -> Logger.Metadata.Value? {
            get { nil }
            set {}
        }

        func log(event: LogEvent) { all.withLock { $0.append("\(event.message)") } }
    }

    /// What `withCallers` gives to a test.
    private struct Scene {
        let callers: Callers
        let service: Connection
        let client: Proxy
        let bus: PrivateBus

        /// Returns who the service takes the client for.
        func owner() async throws -> String {
            try await client.call("Who", returning: String.self)
        }
    }

    /// Runs `body` with a service that answers who called, and a client of it.
    ///
    /// - Parameters:
    ///   - proc: Where processes are looked at.
    ///   - log: Where the service says what it cannot identify.
    ///   - isClientOlder: Whether the client is there before the service listens.
    ///   - authority: Who is asked about connections; nil for the bus itself.
    ///   - body: What is tried.
    /// - Throws: What `body` throws.
    private func withCallers(
        proc: String = "/proc",
        log: Logger = .quiet,
        isClientOlder: Bool = false,
        authority: Authority? = nil,
        _ body: (Scene) async throws -> Void
    ) async throws {
        try await withPrivateBus { bus in
            let service = try await Connection.open(.address(bus.address))
            let standIn = try await Connection.open(.address(bus.address))
            var older: Connection?
            if isClientOlder { older = try await Connection.open(.address(bus.address)) }
            if let authority {
                let credentials = Interface(
                    "org.freedesktop.DBus",
                    [
                        .method("GetConnectionCredentials", in: ["name"], out: ["credentials"]) {
                            (_: Call, name: String) async throws -> [String: Value] in
                            try authority.credentials(of: name)
                        }
                    ]
                )
                try await standIn.export([credentials], at: "/org/freedesktop/DBus")
            }
            let callers = Callers(
                executor: service.executor,
                log: log,
                probe: CallerProbe(folder: proc),
                authority: authority == nil ? .bus : await standIn.uniqueName
            )
            let interface = Interface(
                "org.example.Who1",
                [
                    .method("Who", out: ["owner"]) { (call: Call) async throws -> String in
                        await callers.caller(of: call).owner ?? "program"
                    }
                ]
            )
            try await callers.listen(on: service)
            try await service.export([interface], at: "/org/example")
            let client: Connection
            if let older { client = older } else { client = try await .open(.address(bus.address)) }
            let proxy = Proxy(client, await service.uniqueName, "/org/example", "org.example.Who1")
            try await body(Scene(callers: callers, service: service, client: proxy, bus: bus))
            await client.close()
            await standIn.close()
            await service.close()
        }
    }

    @Test(arguments: [false, true])
    func `a client is looked at once, however many of its calls come first`(
        isOlder: Bool
    ) async throws {
        let authority = Authority { _ in Self.thisProcess }
        try await withCallers(isClientOlder: isOlder, authority: authority) { scene in
            let owners = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<500 { group.addTask { try await scene.owner() } }
                return try await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
            }
            #expect(owners == ["program": 500])
            #expect(authority.count(of: await scene.client.connection.uniqueName) == 1)
        }
    }

    @Test func `a client is looked at when it comes, before it calls`() async throws {
        let authority = Authority { _ in Self.thisProcess }
        try await withCallers(authority: authority) { scene in
            let name = await scene.client.connection.uniqueName
            try await soon("the client to be looked at") { authority.count(of: name) == 1 }
            #expect(try await scene.owner() == "program")
            #expect(authority.count(of: name) == 1)
        }
    }

    @Test func `one that cannot be told is known by the bus and its connection`() async throws {
        let lines = Lines()
        try await withCallers(proc: "/nonexistent", log: Logger(label: "test") { _ in lines }) {
            scene in
            let owner = try await scene.owner()
            let name = await scene.client.connection.uniqueName.rawValue
            #expect(
                lines.all.withLock { $0 }.contains {
                    $0.hasPrefix("\(name) ") && $0.hasSuffix("has ended")
                }
            )
            #expect(owner.hasPrefix("connection/"))
            #expect(owner.hasSuffix(name))
            #expect(owner.count > "connection/".count + name.count + 30)
            try await scene.callers.listen(on: scene.service)
            #expect(try await scene.owner() == owner)
        }
    }

    @Test func `clients that leave are forgotten`() async throws {
        try await withCallers { scene in
            for _ in 0..<600 {
                try await Connection.open(.address(scene.bus.address)).close()
            }
            #expect(try await scene.owner() == "program")
            // The last 256 that left may have calls that wait.
            try await soon("clients to be forgotten") { await scene.callers.known <= 257 }
        }
    }

    @Test func `the descriptor that the bus gives tells a client at any time`() async throws {
        let child = try await ChildProcess.start("sleep", ["60"])
        let living = OpenDescriptor(owning: clinux_pidfd_open(child.processIdentifier))
        let brief = try await ChildProcess.start("sleep", ["60"])
        let ended = OpenDescriptor(owning: clinux_pidfd_open(brief.processIdentifier))
        await brief.stop()
        for (descriptor, isProgram) in [(living, true), (ended, false)] {
            // The number is that of a living program in either case.
            let authority = Authority { _ in
                Self.thisProcess.merging(["ProcessFD": .descriptor(descriptor)]) { $1 }
            }
            try await withCallers(isClientOlder: true, authority: authority) { scene in
                let owner = try await scene.owner()
                #expect((owner == "program") == isProgram)
            }
        }
        await child.stop()
    }

    @Test func `a bus that gives descriptors has none for a process that had ended`() async throws {
        let descriptor = OpenDescriptor(owning: clinux_pidfd_open(getpid()))
        let service = Mutex<String?>(nil)
        let authority = Authority { name in
            // The service asks about itself first.
            let isService = service.withLock { known in
                if known == nil { known = name }
                return known == name
            }
            return isService ? ["ProcessFD": .descriptor(descriptor)] : Self.thisProcess
        }
        try await withCallers(authority: authority) { scene in
            let owner = try await scene.owner()
            #expect(owner.hasPrefix("connection/"))
        }
    }

    @Test func `the security label of a connection tells a Snap`() async throws {
        let label = Array("snap.firefox.firefox (enforce)\0".utf8)
        let authority = Authority { _ in
            Self.thisProcess.merging(["LinuxSecurityLabel": label.busValue]) { $1 }
        }
        try await withCallers(authority: authority) { scene in
            let owner = try await scene.owner()
            #expect(owner == "snap/firefox")
        }
    }

    @Test func `an ordinary security label leaves it to the process`() async throws {
        let label = Array("unconfined\0".utf8)
        let authority = Authority { _ in
            Self.thisProcess.merging(["LinuxSecurityLabel": label.busValue]) { $1 }
        }
        try await withCallers(authority: authority) { scene in
            let owner = try await scene.owner()
            #expect(owner == "program")
        }
    }
}
