// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing

@Suite struct SendingTests {
    /// Sends a value that cannot be sent, and then one that can, over the same connection.
    private func refused(_ value: Value) async throws -> BusError {
        var refusal: BusError?
        try await withServiceAndClient { service, client, _ in
            try await service.export([sample()], at: samplePath)
            let proxy = Proxy(client, await service.uniqueName, samplePath, sampleInterface)
            do throws(BusError) {
                _ = try await proxy.call("Echo", value, returning: Value.self)
            } catch {
                refusal = error
            }
            #expect(try await proxy.call("Join", "a", "b", returning: String.self) == "ab")
        }
        return try #require(refusal)
    }

    private func nested(_ depth: Int) -> Value {
        (0..<depth).reduce(Value.byte(1)) { value, _ in .variant(value) }
    }

    @Test func `a string with U+0000 is refused`() async throws {
        let error = try await refused(.array(of: "s", [.string("fine"), .string("a\0b")]))
        #expect(error.name == "org.freedesktop.DBus.Error.InvalidArgs")
    }

    @Test(arguments: [
        Value.array(of: "s", [.uint32(1)]),
        .array(of: "ss", []),
        .array(of: "", []),
        .array(of: "a{sv}", [.dictionary(key: "s", value: "s", [])]),
        .dictionary(key: "v", value: "s", []),
        .dictionary(key: "s", value: "", []),
        .dictionary(key: "s", value: "u", [Value.Entry(key: .string("a"), value: .string("b"))]),
        .structure([]),
        .array(of: "s", [.structure([])]),
        .structure(Array(repeating: .byte(0), count: 300)),
    ])
    func `a container that breaks its own type is refused`(_ value: Value) async throws {
        let error = try await refused(value)
        #expect(error.name == "org.freedesktop.DBus.Error.InvalidArgs")
    }

    @Test func `nesting is sent up to the specification's limit and refused beyond`() async throws {
        try await withServiceAndClient { service, client, _ in
            try await service.export([sample()], at: samplePath)
            let proxy = Proxy(client, await service.uniqueName, samplePath, sampleInterface)
            // The argument of Echo is a variant itself.
            let deepest = nested(63)
            #expect(try await proxy.call("Echo", deepest, returning: Value.self) == deepest)
        }
        let error = try await refused(nested(64))
        #expect(error.name == "org.freedesktop.DBus.Error.LimitsExceeded")
    }

    @Test func `an array above 60 MiB is refused`() async throws {
        let mebibyte = Value.string(String(repeating: "x", count: 1 << 20))
        let error = try await refused(.array(of: "s", Array(repeating: mebibyte, count: 61)))
        #expect(error.name == "org.freedesktop.DBus.Error.LimitsExceeded")
    }

    @Test func `a message above 120 MiB is refused`() async throws {
        let half = Value.array(
            of: "s",
            Array(repeating: .string(String(repeating: "x", count: 1 << 20)), count: 41)
        )
        let error = try await refused(.structure([half, half, half]))
        #expect(error.name == "org.freedesktop.DBus.Error.LimitsExceeded")
    }
}

/// An entry whose key and type were written beforehand, behind another one.
private struct HeadedEntries: BusType {
    static var signature: Signature { "a{sv}" }

    let entries: [(key: String, value: Value)]

    init(_ entries: [(key: String, value: Value)]) { self.entries = entries }

    init(from reader: inout WireReader) throws(DecodingFailure) {
        throw DecodingFailure("only sent")
    }

    func write(to writer: inout WireWriter) {
        writer.array(of: "{") { writer in
            for (key, value) in entries {
                writer.entry(EntryHead(key, value.signature)) { writer in
                    switch value {
                    case .byte(let number): number.write(to: &writer)
                    case .uint32(let number): number.write(to: &writer)
                    case .double(let number): number.write(to: &writer)
                    case .string(let text): text.write(to: &writer)
                    case .array(_, let values):
                        values.compactMap { try? String(busValue: $0) }.write(to: &writer)
                    default: Issue.record("\(value) is not for here")
                    }
                }
            }
        }
    }
}

extension SendingTests {
    @Test func `entries with heads written beforehand are like any other`() async throws {
        let values: [Value] = [
            .byte(7), .uint32(8), .double(0.5), .string("text"), .array(of: "s", [.string("a")]),
        ]
        // Each type behind each other one, so that it stands at every distance from a multiple of 8.
        let entries = values.flatMap { first in values.flatMap { [first, $0] } }.enumerated().map {
            (key: String(repeating: "k", count: $0.offset % 9) + "\($0.offset)", value: $0.element)
        }
        let sent = WireWriter(HeadedEntries(entries))
        var reader = WireReader(sent)
        let expected = Dictionary(uniqueKeysWithValues: entries.map { ($0.key, $0.value) })
        #expect(try [String: Value](from: &reader) == expected)
        for (key, value) in entries {
            #expect(
                WireWriter(HeadedEntries([(key, value)])).bytes == WireWriter([key: value]).bytes
            )
        }
    }
}
