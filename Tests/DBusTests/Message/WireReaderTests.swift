// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DBus

@Suite struct WireReaderTests {
    /// The bytes of a value as it lies in a message.
    private func bytes(_ value: Value) throws -> [UInt8] {
        var writer = WireWriter()
        try writer.append(value)
        return writer.bytes
    }

    private func dictionary(_ entries: [(String, Value)]) -> Value {
        .dictionary(
            key: "s",
            value: "v",
            entries.map { Value.Entry(key: .string($0.0), value: .variant($0.1)) }
        )
    }

    /// What can be taken of a dictionary.
    private struct Fields: Equatable {
        var text = "", truth = false
        var int32: Int32 = 0, uint32: UInt32 = 0, int64: Int64 = 0, uint64: UInt64 = 0
        var double = 0.0
        var pairs: [Pair<UInt64, UInt64>] = []
        var texts: [String] = []

        mutating func take(_ key: String, _ reader: inout WireReader) throws(DecodingFailure) {
            switch key {
            case "text": try reader.take(&text)
            case "truth": try reader.take(&truth)
            case "int32": try reader.take(&int32)
            case "uint32": try reader.take(&uint32)
            case "int64": try reader.take(&int64)
            case "uint64": try reader.take(&uint64)
            case "double": try reader.take(&double)
            case "pairs": try reader.take(&pairs)
            case "texts": try reader.take(&texts)
            default: try reader.passVariant()
            }
        }
    }

    private func fields(_ body: [UInt8]) throws(DecodingFailure) -> Fields {
        var reader = WireReader(body, "a{sv}")
        var fields = Fields()
        try reader.dictionary { reader, key throws(DecodingFailure) in
            try fields.take(key, &reader)
        }
        return fields
    }

    private let entries: [(String, Value)] = [
        ("text", .string("Grüße")), ("truth", .boolean(true)), ("int32", .int32(-3)),
        ("unknown", .structure([.byte(1), .array(of: "a{sv}", []), .uint64(1)])),
        ("uint32", .uint32(4)), ("int64", .int64(.min)), ("uint64", .uint64(.max)),
        ("double", .double(0.5)),
        ("pairs", [Pair(UInt64(1), UInt64(2)), Pair(UInt64(3), UInt64(4))].busValue),
        ("texts", ["a", "", "Grüße"].busValue),
    ]

    @Test func `each value comes as it was put in`() throws {
        let expected = Fields(
            text: "Grüße",
            truth: true,
            int32: -3,
            uint32: 4,
            int64: .min,
            uint64: .max,
            double: 0.5,
            pairs: [Pair(1, 2), Pair(3, 4)],
            texts: ["a", "", "Grüße"]
        )
        #expect(try fields(bytes(dictionary(entries))) == expected)
        #expect(try fields(bytes(dictionary(entries.reversed()))) == expected)
    }

    @Test(arguments: 0..<UInt64(40))
    func `values of all other types are passed over`(seed: UInt64) throws {
        var generator = ValueGenerator(seed: seed)
        let others = (0..<30).map { ("key \($0)", generator.value(depth: 4)) }
        let wrong = entries.map { ($0.0, Value.variant($0.1)) }
        let all = others + wrong + [("pairs", [Pair(UInt64(5), UInt64(6))].busValue)]
        let isEqual =
            try fields(bytes(dictionary(all))) == Fields(pairs: [Pair(UInt64(5), UInt64(6))])
        #expect(isEqual)
    }

    @Test func `results come one after the other`() throws {
        var writer = WireWriter()
        try writer.append(["a", "", "bc"].busValue)
        try writer.append(.uint32(7))
        var reader = WireReader(writer.bytes, "asu")
        var texts: [String] = []
        try reader.array { reader throws(DecodingFailure) in texts.append(try reader.text()) }
        #expect(texts == ["a", "", "bc"])
        #expect(try reader.uint32() == 7)
        #expect(throws: DecodingFailure.self) { try reader.uint32() }
    }

    @Test func `a body of a machine with the other byte order is read`() throws {
        let theirs = withUnsafeBytes(of: UInt32(0x0102_0304).byteSwapped) { Array($0) }
        var reader = WireReader(theirs, "u", isSwapped: true)
        #expect(try reader.uint32() == 0x0102_0304)
    }

    @Test func `bytes that are cut are an error`() throws {
        let whole = try bytes(dictionary(entries))
        for count in whole.indices {
            #expect(throws: DecodingFailure.self, "\(count) bytes") {
                try fields(Array(whole.prefix(count)))
            }
        }
    }

    @Test func `whatever stands in a body, it is read or refused`() throws {
        let whole = try bytes(dictionary(entries))
        var refused = 0
        for place in whole.indices {
            for byte in [0, 1, 7, 0x28, 0x29, 0x61, 0x76, 0x7B, 0x7F, 0x80, 0xFF] as [UInt8] {
                var changed = whole
                changed[place] = byte
                do { _ = try fields(changed) } catch { refused += 1 }
            }
        }
        #expect(refused > 0)
    }

    @Test func `variants without an end are refused`() throws {
        let deep = (0..<100).reduce(into: [UInt8]()) { bytes, _ in bytes += [1, 0x76, 0] }
        var reader = WireReader(deep + [1, 0x79, 0, 0], "v")
        #expect(throws: DecodingFailure.self) { try reader.passVariant() }
    }

    @Test func `a reply of other types, and an error, are told`() async throws {
        try await withServiceAndClient { service, client, _ in
            try await service.export([sample()], at: samplePath)
            let proxy = Proxy(client, await service.uniqueName, samplePath, sampleInterface)
            func read(_ member: MemberName, _ arguments: [Value]) async throws(BusError) -> UInt32 {
                try await proxy.read(member, arguments, as: "u") {
                    reader throws(DecodingFailure) in try reader.uint32()
                }
            }
            let other = await #expect(throws: BusError.self) {
                try await read("Echo", [.variant(.uint32(1))])
            }
            #expect(other?.name == "org.freedesktop.DBus.Error.InconsistentMessage")
            let unknown = await #expect(throws: BusError.self) { try await read("Vanish", []) }
            #expect(unknown?.name == "org.freedesktop.DBus.Error.UnknownMethod")
        }
    }
}
