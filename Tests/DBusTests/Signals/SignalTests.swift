// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownTesting

@Suite(.timeLimit(.minutes(5))) struct SignalTests {
    @Test func `signals arrive in order and without loss`() async throws {
        try await withServiceAndClient { service, client, _ in
            let signals = try await client.signals(
                MatchRule(interface: sampleInterface, member: "Changed")
            )
            for number in 0..<UInt32(2000) {
                try await service.emit(
                    sampleInterface,
                    "Changed",
                    at: samplePath,
                    [.uint32(number)]
                )
            }
            var received: [Value] = []
            for try await signal in signals {
                #expect(signal.path == samplePath)
                received += signal.arguments
                if received.count == 2000 { break }
            }
            #expect(received == (0..<2000).map { .uint32($0) })
            #expect(try await signals.makeAsyncIteratorAfterCancellation() == nil)
        }
    }

    @Test func `a signal tells when it came, however late it is read`() async throws {
        try await withServiceAndClient { _, client, bus in
            let changes = try await client.ownerChanges()
            let other = try await Connection.open(.address(bus.address))
            // The bus answers this after it has told of the new connection.
            _ = try await client.busID()
            let read = ContinuousClock.now
            var iterator = changes.makeAsyncIterator()
            let change = try await iterator.next()
            #expect(change?.name == (await other.uniqueName))
            #expect(try #require(change).received < read)
            await other.close()
        }
    }

    @Test func `a combining mark does not end an argument of a rule`() async throws {
        try await withServiceAndClient { service, client, _ in
            let value = "x'\u{301},sender='org.freedesktop.DBus"
            let signals = try await client.signals(
                MatchRule(interface: sampleInterface, arguments: [0: value])
            )
            try await service.emit(sampleInterface, "One", at: "/a", [.string(value)])
            var iterator = signals.makeAsyncIterator()
            #expect(try await iterator.next()?.member == "One")
        }
    }

    @Test func `each rule gets what matches it and nothing else`() async throws {
        try await withServiceAndClient { service, client, _ in
            let exact = try await client.signals(MatchRule(path: "/a/b"))
            let below = try await client.signals(
                MatchRule(interface: sampleInterface, pathNamespace: "/a")
            )
            let argument = try await client.signals(
                MatchRule(interface: sampleInterface, arguments: [0: "it's, \\ 'quoted'"])
            )
            let paths: [ObjectPath] = ["/a", "/ab", "/a/b", "/a/b/c"]
            for path in paths {
                try await service.emit(sampleInterface, "One", at: path, [.string("no")])
            }
            try await service.emit(
                sampleInterface,
                "Two",
                at: "/z",
                [.string("it's, \\ 'quoted'")]
            )
            try await service.emit(sampleInterface, "Last", at: "/a/b", [.string("end")])

            var exactIterator = exact.makeAsyncIterator()
            #expect(try await exactIterator.next()?.member == "One")
            #expect(try await exactIterator.next()?.member == "Last")
            var belowIterator = below.makeAsyncIterator()
            for path: ObjectPath in ["/a", "/a/b", "/a/b/c", "/a/b"] {
                #expect(try await belowIterator.next()?.path == path)
            }
            var argumentIterator = argument.makeAsyncIterator()
            #expect(try await argumentIterator.next()?.member == "Two")
        }
    }

    @Test func `a well-known sender is followed to its new owner`() async throws {
        try await withServiceAndClient { service, client, bus in
            let name: BusName = "org.example.Sender"
            let second = try await Connection.open(.address(bus.address))
            _ = try await service.requestName(name)
            // A rule that lets everything through shows that the other one does not.
            let all = try await client.signals(MatchRule(interface: sampleInterface))
            let followed = try await client.signals(
                MatchRule(sender: name, interface: sampleInterface)
            )
            try await second.emit(sampleInterface, "Early", at: "/", [])
            try await service.emit(sampleInterface, "First", at: "/", [])
            var allIterator = all.makeAsyncIterator()
            var seen: Set<MemberName> = []
            while seen.count < 2, let signal = try await allIterator.next() {
                seen.insert(signal.member)
            }
            try await service.releaseName(name)
            _ = try await second.requestName(name)
            try await second.emit(sampleInterface, "Second", at: "/", [])
            var iterator = followed.makeAsyncIterator()
            #expect(try await iterator.next()?.member == "First")
            #expect(try await iterator.next()?.member == "Second")
            await second.close()
        }
    }

    @Test func `PropertiesChanged carries values and names`() async throws {
        try await withServiceAndClient { service, client, _ in
            let signals = try await client.signals(MatchRule(member: "PropertiesChanged"))
            try await service.emit(
                Interface.propertiesChanged,
                at: samplePath,
                sampleInterface.rawValue,
                ["Size": .uint32(9)],
                ["Names"]
            )
            var iterator = signals.makeAsyncIterator()
            let signal = try #require(try await iterator.next())
            #expect(
                signal.arguments == [
                    .string(sampleInterface.rawValue), ["Size": Value.uint32(9)].busValue,
                    ["Names"].busValue,
                ]
            )
        }
    }

    @Test func `a rule that is not read ends its sequence at the limit, with an error`()
        async throws
    {
        try await withServiceAndClient { service, client, _ in
            let signals = try await client.signals(MatchRule(interface: sampleInterface))
            let marker = try await client.signals(MatchRule(interface: "org.example.Marker"))
            for number in 0...SignalSequence<SignalMessage>.maximumWaiting {
                try await service.emit(sampleInterface, "Changed", at: "/", [])
                // The bus must not hold more than it wants to.
                if number % 1024 == 0 { await service.flush() }
            }
            try await service.emit("org.example.Marker", "End", at: "/", [])
            var markers = marker.makeAsyncIterator()
            _ = try await markers.next()
            var count = 0
            let error = await #expect(throws: BusError.self) {
                for try await _ in signals { count += 1 }
            }
            #expect(count == SignalSequence<SignalMessage>.maximumWaiting)
            #expect(error?.name == "org.freedesktop.DBus.Error.LimitsExceeded")
        }
    }

    @Test func `the rule is taken back when nobody listens any more`() async throws {
        try await withServiceAndClient { service, client, bus in
            let name = await client.uniqueName
            func rules() async throws -> Int {
                let output = try await ChildProcess.run(
                    "busctl",
                    [
                        "--address=\(bus.address)", "call", "org.freedesktop.DBus",
                        "/org/freedesktop/DBus", "org.freedesktop.DBus.Debug.Stats",
                        "GetConnectionStats", "s", name.rawValue,
                    ]
                ).standardOutput
                let words = output.split(separator: " ")
                let index = try #require(words.firstIndex(of: "\"MatchRules\""))
                return try #require(Int(words[index + 2]))
            }
            do {
                let signals = try await client.signals(MatchRule(sender: "org.example.Sender"))
                #expect(try await rules() == 2)
                withExtendedLifetime(signals) {}
            }
            // The rules go with a message of their own; this call follows it on the same connection.
            _ = try await client.owner(of: name)
            #expect(try await rules() == 0)
        }
    }
}

extension SignalSequence<SignalMessage> {
    /// What the next step of a cancelled task gives.
    fileprivate func makeAsyncIteratorAfterCancellation() async throws -> SignalMessage? {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            var iterator = makeAsyncIterator()
            return try await iterator.next()
        }
        return try await task.value
    }
}
