// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing

@Suite struct MarshalledDictionaryTests {
    /// Entries of some value each, marshalled beforehand.
    private struct Marshalled: BusType {
        static var signature: Signature { "a{sv}" }

        let entries: [(String, Value)]

        init(_ entries: [(String, Value)]) { self.entries = entries }

        init(busValue: Value) throws(DecodingFailure) { throw DecodingFailure("only sent") }

        var busValue: Value {
            var dictionary = MarshalledDictionary()
            for (key, value) in entries { dictionary.append(key, value) }
            return .marshalled(dictionary)
        }

        /// The same as it arrives.
        var plain: Value {
            .dictionary(
                key: "s",
                value: "v",
                entries.map { Value.Entry(key: .string($0.0), value: .variant($0.1)) }
            )
        }
    }

    /// A reply of a byte, which moves all that follows, a list of dictionaries, and a number.
    private func replies(to value: Marshalled) -> Interface {
        Interface(
            sampleInterface,
            [
                .method("Give", out: ["byte", "list", "one", "count"]) { (_: Call) in
                    (UInt8(7), [value, Marshalled([]), value], value, UInt32(9))
                },
                .method("Wrap", out: ["value"]) { (_: Call) in value.busValue },
            ]
        )
    }

    private func give(
        _ value: Marshalled,
        _ body: (Proxy) async throws -> Void
    ) async throws {
        try await withServiceAndClient { service, client, _ in
            try await service.export([replies(to: value)], at: samplePath)
            try await body(Proxy(client, await service.uniqueName, samplePath, sampleInterface))
        }
    }

    private func results(_ proxy: Proxy, _ member: MemberName) async throws -> [Value] {
        try await proxy.connection.call(proxy.destination, samplePath, sampleInterface, member)
    }

    @Test(arguments: 0..<UInt64(20))
    func `values of all kinds arrive as they were put in`(seed: UInt64) async throws {
        var generator = ValueGenerator(seed: seed)
        let values = (0..<30).map { ("key \($0)", generator.value(depth: 3)) }
        let value = Marshalled(values)
        try await give(value) { proxy in
            let arrived = try await results(proxy, "Give")
            let list = Value.array(
                of: "a{sv}",
                [value.plain, Marshalled([]).plain, value.plain]
            )
            let isEqual = arrived == [.byte(7), list, value.plain, .uint32(9)]
            #expect(isEqual)
            #expect(try await results(proxy, "Wrap") == [.variant(value.plain)])
        }
    }

    @Test(
        arguments: [
            ("a\0b", Value.byte(1)), ("key", .string("a\0b")), ("key", .structure([])),
            ("key", .array(of: "ss", [])), ("key", .array(of: "u", [.string("other")])),
            ("key", .dictionary(key: "v", value: "s", [])),
            ("key", (0..<70).reduce(Value.byte(1)) { value, _ in .variant(value) }),
        ] as [(String, Value)]
    )
    func `what cannot be sent is an error, and the next answer comes`(
        key: String,
        value: Value
    ) async throws {
        try await give(Marshalled([(key, value)])) { proxy in
            for member in ["Give", "Wrap"] as [MemberName] {
                let error = await #expect(throws: BusError.self) {
                    _ = try await results(proxy, member)
                }
                #expect(error?.name == "org.freedesktop.DBus.Error.InvalidArgs")
            }
        }
    }

    @Test func `an array beyond the limit is refused`() async throws {
        let long = Value.string(String(repeating: "x", count: 61 << 20))
        try await give(Marshalled([("key", long)])) { proxy in
            let error = await #expect(throws: BusError.self) {
                _ = try await results(proxy, "Wrap")
            }
            #expect(error?.name == "org.freedesktop.DBus.Error.LimitsExceeded")
        }
    }

    @Test func `a signal brings it too`() async throws {
        try await withServiceAndClient { service, client, _ in
            let signals = try await client.signals(MatchRule(sender: await service.uniqueName))
            let value = Marshalled([("a", .uint64(1)), ("b", .string("ä"))])
            try await service.emit(sampleInterface, "Changed", at: samplePath, [value.busValue])
            var iterator = signals.makeAsyncIterator()
            #expect(try await iterator.next()?.arguments == [value.plain])
        }
    }
}
