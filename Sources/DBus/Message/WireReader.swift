// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// Takes the results of a reply apart where they lie, one after the other.
///
/// For lists of many thousand dictionaries: a tree of ``Value``s costs many times what its bytes do.
/// libdbus has held the message against the specification; all the same no length and no offset in
/// it is trusted. D-Bus specification, "Marshaling".
package struct WireReader: Sendable {
    /// The types of all results.
    package let signature: Signature
    /// The body of the message, whose first byte stands at a multiple of 8.
    private let body: [UInt8]
    /// Whether the message is in the byte order of another machine.
    private let isSwapped: Bool
    private var position = 0

    /// The body of a message that libdbus has received, with `dbus_message_marshal`.
    init(bodyOf message: OpaquePointer, border: Border) throws(BusError) {
        var data: UnsafeMutablePointer<CChar>?
        var count: CInt = 0
        try border.check("dbus_message_marshal") {
            dbus_message_marshal(message, &data, &count)
        }
        defer { dbus_free(data) }
        let bytes = UnsafeRawBufferPointer(start: data, count: Int(count))
        // The header's first byte tells the byte order, its second number the length of the body.
        guard bytes.count >= 16 else { throw .inconsistentMessage("The message has no header.") }
        isSwapped = bytes[0] != UInt8(ascii: UInt16(1).littleEndian == 1 ? "l" : "B")
        let number = bytes.load(fromByteOffset: 4, as: UInt32.self)
        let length = Int(isSwapped ? number.byteSwapped : number)
        guard length <= bytes.count - 16 else {
            throw .inconsistentMessage("The message is shorter than its header says.")
        }
        body = Array(bytes.suffix(length))
        signature = Signature(
            checked: dbus_message_get_signature(message).map { String(cString: $0) } ?? ""
        )
    }

    /// A body of these bytes, whatever they are.
    init(_ body: [UInt8], _ signature: Signature, isSwapped: Bool = false) {
        self.body = body
        self.signature = signature
        self.isSwapped = isSwapped
    }

    // MARK: Values

    /// The next value, an unsigned number of four bytes.
    package mutating func uint32() throws(DecodingFailure) -> UInt32 { try number() }

    /// The next value, a text.
    package mutating func text() throws(DecodingFailure) -> String {
        let count = Int(try number() as UInt32)
        // A byte 0 stands behind it.
        guard count < body.count - position else { throw Self.tooShort }
        let start = position
        position += count + 1
        return body.withUnsafeBytes { bytes in
            String(
                decoding: UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]),
                as: UTF8.self
            )
        }
    }

    /// The next value, an array of arrays or of texts, element by element.
    ///
    /// - Parameter element: takes the next one, all of it.
    /// - Throws: ``DecodingFailure`` where it is something else.
    package mutating func array(
        _ element: (inout WireReader) throws(DecodingFailure) -> Void
    ) throws(DecodingFailure) {
        try array(alignment: 4, element)
    }

    /// The next value, a dictionary `a{sv}`, entry by entry.
    ///
    /// - Parameter entry: is given a key, and takes the value with one of the methods `take`.
    /// - Throws: ``DecodingFailure`` where it is something else.
    package mutating func dictionary(
        _ entry: (inout WireReader, String) throws(DecodingFailure) -> Void
    ) throws(DecodingFailure) {
        try array(alignment: 8) { reader throws(DecodingFailure) in
            reader.align(to: 8)
            let key = try reader.text()
            try entry(&reader, key)
        }
    }

    private mutating func array(
        alignment: Int,
        _ element: (inout WireReader) throws(DecodingFailure) -> Void
    ) throws(DecodingFailure) {
        let count = Int(try number() as UInt32)
        align(to: alignment)
        guard count <= body.count - position else { throw Self.tooShort }
        let end = position + count
        while position < end {
            let start = position
            try element(&self)
            // An element takes at least a byte, or this would have no end.
            guard position > start else { throw DecodingFailure("an element without bytes") }
        }
        guard position == end else { throw DecodingFailure("an array that ends amid an element") }
    }

    // MARK: Contents of variants; one of another type is passed over

    /// Takes a text.
    package mutating func take(_ field: inout String) throws(DecodingFailure) {
        if try enter(.string) { field = try text() }
    }

    /// Takes a truth value.
    package mutating func take(_ field: inout Bool) throws(DecodingFailure) {
        if try enter(.boolean) { field = try uint32() != 0 }
    }

    /// Takes a number.
    package mutating func take(_ field: inout Int32) throws(DecodingFailure) {
        if try enter(.int32) { field = try number() }
    }

    /// Takes a number.
    package mutating func take(_ field: inout UInt32) throws(DecodingFailure) {
        if try enter(.uint32) { field = try number() }
    }

    /// Takes a number.
    package mutating func take(_ field: inout Int64) throws(DecodingFailure) {
        if try enter(.int64) { field = try number() }
    }

    /// Takes a number.
    package mutating func take(_ field: inout UInt64) throws(DecodingFailure) {
        if try enter(.uint64) { field = try number() }
    }

    /// Takes a number.
    package mutating func take(_ field: inout Double) throws(DecodingFailure) {
        if try enter(.double) { field = Double(bitPattern: try number()) }
    }

    /// Takes pairs of numbers.
    package mutating func take(
        _ field: inout [Pair<UInt64, UInt64>]
    ) throws(DecodingFailure) {
        let type = try variant()
        guard body[type].elementsEqual("a(tt)".utf8) else { return try skip(type) }
        var pairs: [Pair<UInt64, UInt64>] = []
        try array(alignment: 8) { reader throws(DecodingFailure) in
            pairs.append(Pair(try reader.number(), try reader.number()))
        }
        field = pairs
    }

    /// Takes texts.
    package mutating func take(_ field: inout [String]) throws(DecodingFailure) {
        let type = try variant()
        guard body[type].elementsEqual("as".utf8) else { return try skip(type) }
        var texts: [String] = []
        try array { reader throws(DecodingFailure) in texts.append(try reader.text()) }
        field = texts
    }

    /// Passes over whatever it is.
    package mutating func passVariant() throws(DecodingFailure) {
        try skip(try variant())
    }

    // MARK: Bytes

    private static let tooShort = DecodingFailure("a value that goes beyond the message")

    private mutating func align(to boundary: Int) {
        position = (position + boundary - 1) & ~(boundary - 1)
    }

    /// Every fixed type is aligned to its own size.
    private mutating func number<Number: FixedWidthInteger>() throws(DecodingFailure) -> Number {
        let size = MemoryLayout<Number>.size
        align(to: size)
        guard size <= body.count - position else { throw Self.tooShort }
        let start = position
        position += size
        let number = body.withUnsafeBytes {
            $0.loadUnaligned(fromByteOffset: start, as: Number.self)
        }
        return isSwapped ? number.byteSwapped : number
    }

    /// Goes on behind so many bytes.
    private mutating func pass(_ count: Int) throws(DecodingFailure) {
        guard count <= body.count - position else { throw Self.tooShort }
        position += count
    }

    // MARK: Types

    /// Goes into a variant.
    ///
    /// - Returns: Where its type stands.
    private mutating func variant() throws(DecodingFailure) -> Range<Int> {
        guard position < body.count else { throw Self.tooShort }
        let start = position + 1
        let count = Int(body[position])
        try pass(count + 2)
        return start..<start + count
    }

    /// Goes into a variant of one type, and behind one of any other.
    private mutating func enter(_ code: TypeCode) throws(DecodingFailure) -> Bool {
        let type = try variant()
        guard type.count == 1, body[type.lowerBound] == code.rawValue else {
            try skip(type)
            return false
        }
        return true
    }

    /// Goes behind values of these types.
    private mutating func skip(_ types: Range<Int>, depth: Int = 0) throws(DecodingFailure) {
        guard depth <= Encoder.maximumDepth else { throw DecodingFailure("values too deep") }
        var types = types
        while let first = types.first {
            let end = try end(ofTypeIn: types)
            defer { types = end..<types.upperBound }
            switch TypeCode(rawValue: body[first]) {
            case .byte: try pass(1)
            case .int16, .uint16: _ = try number() as UInt16
            case .boolean, .int32, .uint32, .unixDescriptor: _ = try number() as UInt32
            case .int64, .uint64, .double: _ = try number() as UInt64
            case .string, .objectPath: try pass(Int(try number() as UInt32) + 1)
            case .signature: _ = try variant()
            case .variant: try skip(try variant(), depth: depth + 1)
            case .array:
                let count = Int(try number() as UInt32)
                align(to: alignment(ofTypeAt: first + 1))
                try pass(count)
            case .structureStart:
                align(to: 8)
                try skip(first + 1..<end - 1, depth: depth + 1)
            case .structureEnd, .dictionaryStart, .dictionaryEnd, nil:
                throw DecodingFailure("a value of unknown type")
            }
        }
    }

    /// Behind the first complete type.
    private func end(ofTypeIn types: Range<Int>) throws(DecodingFailure) -> Int {
        var open = 0
        for place in types {
            switch TypeCode(rawValue: body[place]) {
            case .array: continue
            case .structureStart, .dictionaryStart: open += 1
            case .structureEnd, .dictionaryEnd: open -= 1
            default: break
            }
            if open == 0 { return place + 1 }
        }
        throw DecodingFailure("a type that does not end")
    }

    /// Where a value of a type may start; of the types that an array may have.
    private func alignment(ofTypeAt place: Int) -> Int {
        switch TypeCode(rawValue: body[place]) {
        case .byte, .signature, .variant: 1
        case .int16, .uint16: 2
        case .int64, .uint64, .double, .structureStart, .dictionaryStart: 8
        default: 4
        }
    }
}
