// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DBus

@Suite struct WireReaderTests {
    private func dictionary(_ entries: [(String, Value)]) -> [UInt8] {
        let entries = entries.map { Value.Entry(key: .string($0.0), value: .variant($0.1)) }
        return WireWriter(contents: [.dictionary(key: "s", value: "v", entries)]).bytes
    }

    /// What can be read of a dictionary.
    private struct Fields: Equatable {
        var text = "", truth = false
        var int32: Int32 = 0, uint32: UInt32 = 0, int64: Int64 = 0, uint64: UInt64 = 0
        var double = 0.0
        var pairs: [Structure<UInt64, UInt64>] = []
        var texts: [String] = []

        mutating func read(_ key: String, _ reader: inout WireReader) throws(DecodingFailure) {
            switch key {
            case "text": text = try reader.variant(of: String.self) ?? text
            case "truth": truth = try reader.variant(of: Bool.self) ?? truth
            case "int32": int32 = try reader.variant(of: Int32.self) ?? int32
            case "uint32": uint32 = try reader.variant(of: UInt32.self) ?? uint32
            case "int64": int64 = try reader.variant(of: Int64.self) ?? int64
            case "uint64": uint64 = try reader.variant(of: UInt64.self) ?? uint64
            case "double": double = try reader.variant(of: Double.self) ?? double
            case "pairs":
                pairs = try reader.variant(of: [Structure<UInt64, UInt64>].self) ?? pairs
            case "texts": texts = try reader.variant(of: [String].self) ?? texts
            default: _ = try reader.variant()
            }
        }
    }

    private func fields(_ body: [UInt8]) throws(DecodingFailure) -> Fields {
        var reader = WireReader(body, "a{sv}")
        var fields = Fields()
        try reader.dictionary { reader, key throws(DecodingFailure) in
            try fields.read(key, &reader)
        }
        return fields
    }

    private let entries: [(String, Value)] = [
        ("text", .string("Grüße")), ("truth", .boolean(true)), ("int32", .int32(-3)),
        ("unknown", .structure([.byte(1), .array(of: "a{sv}", []), .uint64(1)])),
        ("uint32", .uint32(4)), ("int64", .int64(.min)), ("uint64", .uint64(.max)),
        ("double", .double(0.5)),
        ("pairs", [Structure(UInt64(1), UInt64(2)), Structure(UInt64(3), UInt64(4))].busValue),
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
            pairs: [Structure(1, 2), Structure(3, 4)],
            texts: ["a", "", "Grüße"]
        )
        #expect(try fields(dictionary(entries)) == expected)
        #expect(try fields(dictionary(entries.reversed())) == expected)
    }

    @Test(arguments: 0..<UInt64(40))
    func `values of all other types are passed over`(seed: UInt64) throws {
        var generator = ValueGenerator(seed: seed)
        let others = (0..<30).map { ("key \($0)", generator.value(depth: 4)) }
        let wrong = entries.map { ($0.0, Value.variant($0.1)) }
        let all = others + wrong + [("pairs", [Structure(UInt64(5), UInt64(6))].busValue)]
        let isEqual =
            try fields(dictionary(all)) == Fields(pairs: [Structure(UInt64(5), UInt64(6))])
        #expect(isEqual)
    }

    @Test func `results come one after the other`() throws {
        var reader = WireReader(WireWriter(["a", "", "bc"], UInt32(7)))
        #expect(reader.signature == "asu")
        #expect(try [String](from: &reader) == ["a", "", "bc"])
        #expect(try UInt32(from: &reader) == 7)
        #expect(throws: DecodingFailure.self) { try UInt32(from: &reader) }
    }

    @Test func `a body of a machine with the other byte order is read`() throws {
        let theirs = withUnsafeBytes(of: UInt32(0x0102_0304).byteSwapped) { Array($0) }
        var reader = WireReader(theirs, "u", isSwapped: true)
        #expect(try UInt32(from: &reader) == 0x0102_0304)
    }

    @Test func `bytes that are cut are an error`() throws {
        let whole = dictionary(entries)
        for count in whole.indices {
            #expect(throws: DecodingFailure.self, "\(count) bytes") {
                try fields(Array(whole.prefix(count)))
            }
        }
    }

    @Test func `whatever stands in a body, it is read or refused`() throws {
        let whole = dictionary(entries)
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
        #expect(throws: DecodingFailure.self) { try reader.variant() }
    }

    @Test(arguments: ["a", "a{", "a{s", "a{sv", "(", "(s", "{sv}", "()", ")", "a{vs}", "z", "aa"])
    func `a type that is none is refused`(type: String) {
        let reader = WireReader([UInt8](repeating: 0, count: 64), Signature(checked: type))
        #expect(throws: DecodingFailure.self) { try reader.values() }
        let variant = [UInt8(type.utf8.count)] + type.utf8 + [UInt8](repeating: 0, count: 64)
        #expect(throws: DecodingFailure.self) { try WireReader(variant, "v").values() }
    }

    @Test(arguments: 0..<UInt64(30))
    func `whatever bytes and types come together, they are read or refused`(seed: UInt64) {
        var generator = ValueGenerator(seed: seed)
        for _ in 0..<200 {
            let type = generator.value(depth: 4).signature
            let bytes = WireWriter(contents: [generator.value(depth: 4)]).bytes
            for isSwapped in [false, true] {
                guard let values = try? WireReader(bytes, type, isSwapped: isSwapped).values()
                else { continue }
                #expect(values.map(\.signature) == [type])
            }
        }
    }

    @Test func `more values than fit into memory are refused before they are there`() {
        let empty = [UInt8](repeating: 0, count: 60 << 20)
        let length = withUnsafeBytes(of: UInt32(empty.count)) { Array($0) }
        let reader = WireReader(length + empty, "ay")
        #expect(throws: DecodingFailure.self) { try reader.values() }
    }

    @Test func `a reply of other types, and an error, are told`() async throws {
        try await withServiceAndClient { service, client, _ in
            try await service.export([sample()], at: samplePath)
            let proxy = Proxy(client, await service.uniqueName, samplePath, sampleInterface)
            let other = await #expect(throws: BusError.self) {
                try await proxy.call("Echo", Value.uint32(1), returning: UInt32.self)
            }
            #expect(other?.name == "org.freedesktop.DBus.Error.InconsistentMessage")
            let unknown = await #expect(throws: BusError.self) { try await proxy.call("Vanish") }
            #expect(unknown?.name == "org.freedesktop.DBus.Error.UnknownMethod")
        }
    }
}
