// SPDX-License-Identifier: Apache-2.0

import DBus
import Dispatch
import Synchronization
import Testing
import iDownTesting

@Suite struct HandlerTests {
    /// Lets handlers wait until the test opens it.
    private actor Gate {
        private var isOpen = false
        private var waiters: [CheckedContinuation<Void, Never>] = []

        func pass() async {
            guard !isOpen else { return }
            await withCheckedContinuation { waiters.append($0) }
        }

        func open() {
            isOpen = true
            for waiter in waiters { waiter.resume() }
            waiters = []
        }
    }

    /// Notes what happened, in order.
    private final class Journal: Sendable {
        private let state = Mutex<[UInt32]>([])

        func note(_ number: UInt32) {
            state.withLock { $0.append(number) }
        }

        var numbers: [UInt32] {
            state.withLock { $0 }
        }
    }

    @Test func `handlers start in the order of arrival although none has ended`() async throws {
        let gate = Gate()
        let journal = Journal()
        let interface = Interface(
            sampleInterface,
            [
                .method("Wait", .wait, in: ["number"], out: ["number"]) {
                    (_: Call, number: UInt32) async throws -> UInt32 in
                    journal.note(number)
                    await gate.pass()
                    return number
                },
                .method("Open") { (_: Call) in await gate.open() },
            ]
        )
        try await withServiceAndClient { service, client, _ in
            try await service.export([interface], at: samplePath)
            let proxy = Proxy(client, await service.uniqueName, samplePath, sampleInterface)
            try await withThrowingTaskGroup(of: UInt32.self) { group in
                for number in 0..<UInt32(300) {
                    // Immediate: the calls leave in this order.
                    group.addImmediateTask {
                        try await proxy.call("Wait", number, returning: UInt32.self)
                    }
                }
                try await proxy.call("Open")
                var answered: Set<UInt32> = []
                for try await number in group { answered.insert(number) }
                #expect(answered.count == 300)
            }
        }
        #expect(journal.numbers == Array(0..<300))
    }

    @Test func `a handler runs on the connection's executor`() async throws {
        let interface = Interface(
            sampleInterface,
            [
                .method("Check") { (call: Call) in
                    call.connection.preconditionIsolated()
                    await Task.yield()
                    call.connection.preconditionIsolated()
                }
            ]
        )
        try await withServiceAndClient { service, client, _ in
            try await service.export([interface], at: samplePath)
            try await Proxy(client, await service.uniqueName, samplePath, sampleInterface)
                .call("Check")
        }
    }

    @Test func `what is at hand is answered without the handler`() async throws {
        let journal = Journal()
        let interface = Interface(
            sampleInterface,
            [
                .method(
                    "Find",
                    .query,
                    in: ["number"],
                    out: ["text"],
                    now: { (call: Call, number: UInt32) in
                        call.connection.preconditionIsolated()
                        return number == 1 ? WireWriter("at hand") : nil
                    }
                ) { (_: Call, number: UInt32) async throws -> String in
                    journal.note(number)
                    return "looked for"
                },
                .property(
                    "Near",
                    now: { _ in 3 },
                    get: { (_: Call) -> UInt32 in throw BusError.failed("") }
                ),
                .property("Far", now: { _ in nil }, get: { _ in "looked for" }),
            ]
        )
        try await withServiceAndClient { service, client, _ in
            try await service.export([interface], at: samplePath)
            let proxy = Proxy(client, await service.uniqueName, samplePath, sampleInterface)
            let near = try await proxy.call("Find", UInt32(1), returning: String.self)
            let far = try await proxy.call("Find", UInt32(2), returning: String.self)
            #expect([near, far] == ["at hand", "looked for"])
            #expect(journal.numbers == [2])
            #expect(try await proxy.get("Near", as: UInt32.self) == 3)
            #expect(try await proxy.get("Far", as: String.self) == "looked for")
        }
    }

    @Test func `every call is answered exactly once`() async throws {
        let interface = Interface(
            sampleInterface,
            [
                .method("Work", in: ["number"], out: ["number"]) {
                    (_: Call, number: UInt32) async throws -> UInt32 in
                    for _ in 0..<number % 4 { await Task.yield() }
                    guard number % 3 != 0 else { throw BusError.failed("a third fails") }
                    return number
                }
            ]
        )
        try await withServiceAndClient { service, client, bus in
            try await service.export([interface], at: samplePath)
            let name = await service.uniqueName
            let proxy = Proxy(client, name, samplePath, sampleInterface)
            let rules = ["type='method_return',sender='\(name)'", "type='error',sender='\(name)'"]
            try await withChild("dbus-monitor", ["--address", bus.address, "--profile"] + rules) {
                monitor in
                // The monitor's first lines tell that it watches: a header, then NameLost to itself.
                _ = await monitor.nextLine()
                await withTaskGroup { group in
                    for number in 0..<UInt32(240) {
                        group.addTask {
                            let result = try? await proxy.call(
                                "Work",
                                number,
                                returning: UInt32.self
                            )
                            #expect(result == (number % 3 == 0 ? nil : number))
                        }
                    }
                }
                try? await proxy.call("NoSuchMethodMarksTheEnd")
                var serials: [Substring] = []
                while let line = await monitor.nextLine() {
                    // Kind, time, serial, sender, destination, serial of the call.
                    let fields = line.split(separator: "\t")
                    guard fields.count == 6, fields[3] == name.rawValue else { continue }
                    serials.append(fields[5])
                    if serials.count == 241 { break }
                }
                #expect(serials.count == 241)
                #expect(Set(serials).count == 241)
            }
        }
    }

    @Test func `a method without a task is answered once, from whatever thread`() async throws {
        let interface = Interface(
            sampleInterface,
            [
                .method("Double", in: ["number"], answering: "twice") {
                    (call: Call, answer: @escaping Answer<UInt32>, number: UInt32) in
                    call.connection.preconditionIsolated()
                    guard number > 0 else { return answer(.failure(BusError.failed("nothing"))) }
                    guard number > 1 else { return answer(.success(2)) }
                    DispatchQueue.global().async {
                        answer(.success(number * 2))
                        answer(.success(0))
                    }
                }
            ]
        )
        try await withServiceAndClient { service, client, _ in
            try await service.export([interface], at: samplePath)
            let proxy = Proxy(client, await service.uniqueName, samplePath, sampleInterface)
            for number in 1...50 as ClosedRange<UInt32> {
                let twice = try await proxy.call("Double", number, returning: UInt32.self)
                #expect(twice == number * 2)
            }
            let refused = await #expect(throws: BusError.self) {
                try await proxy.call("Double", UInt32(0), returning: UInt32.self)
            }
            #expect(refused?.message == "nothing")
            let wrong = await #expect(throws: BusError.self) {
                try await proxy.call("Double", "two", returning: UInt32.self)
            }
            #expect(wrong?.name == "org.freedesktop.DBus.Error.InvalidArgs")
        }
    }

    @Test func `a member that does not name each of its arguments is refused at the export`()
        async throws
    {
        try await withServiceAndClient { service, _, _ in
            let unnamed: [Member] = [
                .method("Take") { (_: Call, _: UInt32) in },
                .method("Give", in: ["number"]) { (_: Call, number: UInt32) in number },
                .method("Have", in: ["number", "more"]) { (_: Call, _: UInt32) in },
                .method("Mark", in: ["a<b"]) { (_: Call, _: UInt32) in },
                .signal(Signal<String>(sampleInterface, "Tell")),
            ]
            for member in unnamed {
                let interface = Interface(sampleInterface, [member])
                let error = await #expect(throws: BusError.self) {
                    try await service.export([interface], at: samplePath)
                }
                #expect(error?.name == BusError.invalidArguments("").name)
                #expect(error?.message.contains("\(sampleInterface).\(member.name)") == true)
                let rooms = Subtree([interface], contains: { _ in true }, children: { [] })
                await #expect(throws: BusError.self) {
                    try await service.export(rooms, below: samplePath)
                }
            }
            // Nothing of them was exported.
            try await service.export([sample()], at: samplePath)
        }
    }

    @Test func `an interface puts what its handlers throw into its own words`() async throws {
        struct Refusal: Error { let number: UInt32 }
        let interface = Interface(
            sampleInterface,
            [
                .method("Throw", in: ["number"]) { (_: Call, number: UInt32) in
                    throw Refusal(number: number)
                },
                .method("Refuse", in: ["number"], answering: "none") {
                    (_: Call, _: @escaping Answer<UInt32>, number: UInt32) in
                    throw Refusal(number: number)
                },
                .method("Answer", in: ["number"], answering: "none") {
                    (_: Call, answer: @escaping Answer<UInt32>, number: UInt32) in
                    answer(.failure(Refusal(number: number)))
                },
                .property(
                    "Value",
                    get: { (_: Call) async throws -> UInt32 in throw Refusal(number: 4) },
                    set: { _, number in throw Refusal(number: number) }
                ),
            ],
            errors: { error, call in
                guard let refusal = error as? Refusal else { return .failed("\(error)") }
                return BusError("org.example.Refused", "\(call.path) \(refusal.number)")
            },
            snapshot: { _ in throw Refusal(number: 6) }
        )
        try await withServiceAndClient { service, client, _ in
            try await service.export([interface], at: samplePath)
            let proxy = Proxy(client, await service.uniqueName, samplePath, sampleInterface)
            let calls: [() async throws -> Void] = [
                { try await proxy.call("Throw", UInt32(1)) },
                { try await proxy.call("Refuse", UInt32(2)) },
                { try await proxy.call("Answer", UInt32(3)) },
                { _ = try await proxy.get("Value", as: UInt32.self) },
                { try await proxy.set("Value", to: UInt32(5)) },
                { _ = try await proxy.getAll() },
            ]
            for (index, call) in calls.enumerated() {
                let error = await #expect(throws: BusError.self) { try await call() }
                #expect(error == BusError("org.example.Refused", "\(samplePath) \(index + 1)"))
            }
        }
    }

    @Test func `a service that ends answers what was to be answered later`() async throws {
        let (answers, report) = AsyncStream<Answer<UInt32>>.makeStream()
        let interface = Interface(
            sampleInterface,
            [
                .method("Later", in: [], answering: "number") {
                    (_: Call, answer: @escaping Answer<UInt32>) in
                    report.yield(answer)
                }
            ]
        )
        try await withServiceAndClient { service, client, _ in
            try await service.export([interface], at: samplePath)
            let proxy = Proxy(client, await service.uniqueName, samplePath, sampleInterface)
            let pending = Task { try await proxy.call("Later", returning: UInt32.self) }
            let answer = await answers.first { _ in true }
            await service.refuseCalls(with: .failed("it ends"))
            answer?(.success(1))
            let error = await #expect(throws: BusError.self) { try await pending.value }
            #expect(error?.message == "it ends")
            await service.close()
            answer?(.success(1))
        }
    }

    @Test func `a call that wants no reply gets none`() async throws {
        try await withServiceAndClient { service, client, bus in
            let (calls, report) = AsyncStream<Bool>.makeStream()
            let interface = Interface(
                sampleInterface,
                [
                    .method("Note") { (call: Call) async throws in
                        report.yield(call.wantsReply)
                        throw BusError.failed("nobody hears this")
                    }
                ]
            )
            try await service.export([interface], at: samplePath)
            let name = await service.uniqueName
            let rules = ["type='method_return',sender='\(name)'", "type='error',sender='\(name)'"]
            try await withChild("dbus-monitor", ["--address", bus.address, "--profile"] + rules) {
                monitor in
                // The monitor's first lines tell that it watches: a header, then NameLost to itself.
                _ = await monitor.nextLine()
                for member in ["Note", "NoSuchMethod", "Note"] {
                    let sent = try await ChildProcess.run(
                        "busctl",
                        [
                            "--address=\(bus.address)", "--expect-reply=no", "call",
                            name.rawValue, samplePath.rawValue, sampleInterface.rawValue, member,
                        ]
                    )
                    #expect(sent.succeeded)
                }
                var iterator = calls.makeAsyncIterator()
                #expect(await iterator.next() == false)
                #expect(await iterator.next() == false)
                // A reply to an earlier call would come before the one to this call.
                let proxy = Proxy(client, name, samplePath, sampleInterface)
                await #expect(throws: BusError.self) { try await proxy.call("Note") }
                #expect(await iterator.next() == true)
                let own = await client.uniqueName.rawValue
                var receivers: [Substring] = []
                while receivers.last != own[...], let line = await monitor.nextLine() {
                    // Kind, time, serial, sender, destination, serial of the call.
                    let fields = line.split(separator: "\t")
                    guard fields.count >= 6, fields[3] == name.rawValue else { continue }
                    receivers.append(fields[4])
                }
                #expect(receivers == [own[...]])
            }
        }
    }

    @Test func `closing the connection cancels the handlers`() async throws {
        let (events, report) = AsyncStream<String>.makeStream()
        let interface = Interface(
            sampleInterface,
            [
                .method("Hang") { (_: Call) async throws in
                    report.yield("started")
                    do {
                        try await Task.sleep(for: .seconds(3600))
                    } catch {
                        report.yield("cancelled")
                        throw error
                    }
                }
            ]
        )
        try await withServiceAndClient { service, client, _ in
            try await service.export([interface], at: samplePath)
            let proxy = Proxy(client, await service.uniqueName, samplePath, sampleInterface)
            let hanging = Task { try await proxy.call("Hang") }
            var iterator = events.makeAsyncIterator()
            #expect(await iterator.next() == "started")
            await service.close()
            #expect(await iterator.next() == "cancelled")
            let error = await #expect(throws: BusError.self) { try await hanging.value }
            #expect(error?.name == "org.freedesktop.DBus.Error.NoReply")
        }
    }

    @Test func `a handler may close its own connection`() async throws {
        let interface = Interface(
            sampleInterface,
            [.method("Quit") { (call: Call) in await call.connection.close() }]
        )
        try await withServiceAndClient { service, client, _ in
            try await service.export([interface], at: samplePath)
            let proxy = Proxy(client, await service.uniqueName, samplePath, sampleInterface)
            await #expect(throws: BusError.self) { try await proxy.call("Quit") }
            await service.waitUntilClosed()
            #expect(await !service.isOpen)
        }
    }
}
