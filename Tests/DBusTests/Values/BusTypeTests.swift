// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing

@Suite struct BusTypeTests {
    private func roundTrip<Content: BusType & Equatable>(_ content: Content) throws {
        #expect(try Content(busValue: content.busValue) == content)
        #expect(content.busValue.signature == Content.signature)
    }

    @Test func `every type takes what it gives`() throws {
        try roundTrip(UInt8.max)
        try roundTrip(true)
        try roundTrip(Int16.min)
        try roundTrip(UInt16.max)
        try roundTrip(Int32.min)
        try roundTrip(UInt32.max)
        try roundTrip(Int64.min)
        try roundTrip(UInt64.max)
        try roundTrip(0.5)
        try roundTrip("täxt")
        try roundTrip(ObjectPath("/a"))
        try roundTrip(Signature("a{sv}"))
        try roundTrip([["a", "b"], []])
        try roundTrip(["a": UInt32(1), "b": 2])
        try roundTrip(Structure(UInt64(1), "b"))
        try roundTrip(Structure(UInt8(1), "b", [true], Structure(-0.5), ["v": Int16(7)]))
        try roundTrip(["v": Value.structure([.byte(1)])])
    }

    @Test func `a value is taken in a variant, and as it is`() throws {
        for value in [Value.variant(.string("a")), .string("a")] {
            #expect(try Value(busValue: value) == .string("a"))
        }
    }

    @Test func `a value of another type is refused, and both types are named`() {
        #expect(throws: DecodingFailure("expected type u, found s")) {
            try UInt32(busValue: .string("1"))
        }
        #expect(throws: DecodingFailure.self) {
            try [String](busValue: .array(of: "u", [.uint32(1)]))
        }
        #expect(throws: DecodingFailure.self) {
            try Structure<String, String>(busValue: .structure([.string("alone")]))
        }
    }
}
