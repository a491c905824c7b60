// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// Reads the values of a message in place, one after the other: D-Bus specification, "Marshaling".
///
/// libdbus has checked the message, but this type trusts no length or offset in it.
public struct WireReader: Sendable {
    /// The most bytes of memory that the values of one message may take: 256 MiB.
    ///
    /// A task or a ``Value`` takes many times the bytes that it has in a message: without a limit,
    /// an array of 64 MiB could become gigabytes.
    static let maximumMemory = 256 << 20

    /// The types of all arguments.
    let signature: Signature
    private let body: Body
    private var position = 0
    private var memory = Self.maximumMemory
    /// The error for a call whose arguments take too much memory; nil for other messages.
    private var limitError: ErrorName?
    private var depth = 0
    /// The open files of the values of type `h` that are still to be read, in the order of the
    /// values; nil if the message's files are refused.
    private var files: ArraySlice<OpenDescriptor?>?

    /// Creates a reader for a message that libdbus has received, with `dbus_message_marshal`.
    ///
    /// - Parameters:
    ///   - message: The message; the reader does not need it afterwards.
    ///   - limits: The most memory that the values may take, and the error for more; nil if the
    ///     message is not a call.
    ///   - takesDescriptors: Whether to open the message's files in this process. False for methods
    ///     that declare none, so that callers cannot fill the table of open files.
    ///   - libdbus: Makes planned calls fail, for tests.
    /// - Throws: `NoMemory`.
    init(
        bodyOf message: OpaquePointer,
        within limits: CallLimits? = nil,
        takingDescriptors takesDescriptors: Bool = false,
        libdbus: LibDBusCalls
    ) throws(BusError) {
        signature = Signature(
            checked: dbus_message_get_signature(message).map { String(cString: $0) } ?? ""
        )
        if let limits { (memory, limitError) = (limits.memory, limits.error) }
        body = try Body(of: message, libdbus: libdbus)
        if takesDescriptors { files = Self.descriptors(of: message)[...] }
    }

    /// Creates a reader for the values of a writer.
    public init(_ writer: WireWriter) {
        signature = writer.signature
        body = Body(copying: writer.bytes)
        files = (writer.descriptors as [OpenDescriptor?])[...]
    }

    /// Creates a reader for any bytes.
    init(_ bytes: [UInt8], _ signature: Signature, isSwapped: Bool = false) {
        self.signature = signature
        body = Body(copying: bytes, isSwapped: isSwapped)
    }

    /// The number of bytes of the body.
    var count: Int { body.bytes.count }

    // MARK: Arguments

    /// Returns all arguments.
    func values() throws(DecodingFailure) -> [Value] {
        guard Signatures.isValid(signature.rawValue) else {
            throw DecodingFailure("\"\(signature)\" is not a valid signature")
        }
        var reader = self
        var types = ArraySlice(signature.rawValue.utf8)
        var values: [Value] = []
        while !types.isEmpty { values.append(try reader.value(&types)) }
        return values
    }

    /// Reads the next argument of a call.
    ///
    /// - Throws: `InvalidArgs`; the error of the limits if the argument would take too much memory.
    mutating func argument<Argument: BusType>(_ type: Argument.Type) throws(BusError) -> Argument {
        do throws(DecodingFailure) {
            return try Argument(from: &self)
        } catch {
            if error == .tooLarge, let limitError { throw BusError(limitError, "\(error)") }
            throw .invalidArguments("The arguments: \(error).")
        }
    }

    /// Reads the results of a call; further results are ignored.
    ///
    /// - Throws: `InconsistentMessage` if the results have other types.
    func results<each Result: BusType>(
        of member: MemberName,
        as types: repeat (each Result).Type
    ) throws(BusError) -> (repeat each Result) {
        var expected = Signature.empty
        for type in repeat each types { expected = expected + type.signature }
        guard signature.rawValue.hasPrefix(expected.rawValue) else {
            throw .inconsistentMessage(
                "The answer to \(member) is of type \"\(signature)\", not \"\(expected)\"."
            )
        }
        var reader = self
        do throws(DecodingFailure) {
            return (repeat try (each Result)(from: &reader))
        } catch {
            throw .inconsistentMessage("The answer to \(member) cannot be read: \(error).")
        }
    }

    // MARK: Containers

    /// Reads an array, element by element.
    ///
    /// - Parameters:
    ///   - element: The type of the elements; for the entries of a dictionary, `{` is enough.
    ///   - read: Reads the whole next element.
    /// - Throws: ``DecodingFailure`` if the array goes beyond the message, or ends in the middle of
    ///   an element.
    public mutating func array(
        of element: Signature,
        _ read: (inout WireReader) throws(DecodingFailure) -> Void
    ) throws(DecodingFailure) {
        let count = Int(try number() as UInt32)
        align(to: element.alignment)
        guard count <= body.bytes.count - position else { throw Self.tooShort }
        let end = position + count
        try nest { reader throws(DecodingFailure) in
            while reader.position < end {
                let start = reader.position
                try read(&reader)
                // Every element takes at least one byte; without this check, the loop might never
                // end.
                guard reader.position > start else {
                    throw DecodingFailure("an element without bytes")
                }
            }
        }
        guard position == end else { throw DecodingFailure("an array that ends amid an element") }
    }

    /// Reads a dictionary `a{sv}`, entry by entry.
    ///
    /// - Parameter read: Gets a key, and reads the variant that follows it.
    /// - Throws: The errors of ``array(of:_:)``.
    public mutating func dictionary(
        _ read: (inout WireReader, String) throws(DecodingFailure) -> Void
    ) throws(DecodingFailure) {
        try array(of: "{") { reader throws(DecodingFailure) in
            reader.align(to: 8)
            let key = try reader.text()
            try read(&reader, key)
        }
    }

    /// Reads a structure; `read` reads its members.
    public mutating func structure<Members>(
        _ read: (inout WireReader) throws(DecodingFailure) -> Members
    ) throws(DecodingFailure) -> Members {
        align(to: 8)
        return try nest(read)
    }

    /// Reads a variant; skips one of another type and returns nil.
    public mutating func variant<Content: BusType>(
        of type: Content.Type
    ) throws(DecodingFailure) -> Content? {
        let found = try variantType()
        guard found == Content.signature else {
            _ = try value(of: found)
            return nil
        }
        return try nest { reader throws(DecodingFailure) in try Content(from: &reader) }
    }

    /// Reads a variant of any type.
    public mutating func variant() throws(DecodingFailure) -> Value {
        let type = try variantType()
        return try nest { reader throws(DecodingFailure) in try reader.value(of: type) }
    }

    private mutating func nest<Output>(
        _ read: (inout WireReader) throws(DecodingFailure) -> Output
    ) throws(DecodingFailure) -> Output {
        depth += 1
        defer { depth -= 1 }
        guard depth <= WireWriter.maximumDepth else { throw DecodingFailure("values too deep") }
        return try read(&self)
    }

    /// Reads the type of a variant, after which its content follows.
    private mutating func variantType() throws(DecodingFailure) -> Signature {
        let type = Signature(checked: try shortText())
        guard type.rawValue.utf8.count == 1 || type.isSingleCompleteType else {
            throw DecodingFailure("a variant without a type")
        }
        return type
    }

    // MARK: Values whose types become known when the program runs

    /// Reads a value of one type, without a variant around it.
    mutating func value(of type: Signature) throws(DecodingFailure) -> Value {
        var types = ArraySlice(type.rawValue.utf8)
        return try value(&types)
    }

    /// Reads a value of the first type in `types`, and removes that type.
    private mutating func value(_ types: inout ArraySlice<UInt8>) throws(DecodingFailure) -> Value {
        try reserve(MemoryLayout<Value>.stride)
        switch types.popFirst().flatMap(TypeCode.init(rawValue:)) {
        case .byte: return .byte(try number())
        case .boolean: return .boolean(try Bool(from: &self))
        case .int16: return .int16(try number())
        case .uint16: return .uint16(try number())
        case .int32: return .int32(try number())
        case .uint32: return .uint32(try number())
        case .int64: return .int64(try number())
        case .uint64: return .uint64(try number())
        case .double: return .double(try Double(from: &self))
        case .string: return .string(try text())
        case .objectPath: return .objectPath(ObjectPath(checked: try text()))
        case .signature: return .signature(Signature(checked: try shortText()))
        case .unixDescriptor: return .descriptor(try descriptor())
        case .variant: return .variant(try variant())
        case .array: return try arrayValue(&types)
        case .structureStart:
            return try structure { reader throws(DecodingFailure) in
                var members: [Value] = []
                while types.first != TypeCode.structureEnd.rawValue {
                    members.append(try reader.value(&types))
                }
                types.removeFirst()
                return .structure(members)
            }
        case .structureEnd, .dictionaryStart, .dictionaryEnd, nil:
            throw DecodingFailure("a value of unknown type")
        }
    }

    private mutating func arrayValue(
        _ types: inout ArraySlice<UInt8>
    ) throws(DecodingFailure) -> Value {
        guard let length = Self.lengthOfFirst(types) else {
            throw DecodingFailure("an array of nothing")
        }
        // Each array stores the text of its element type.
        try reserve(length)
        var element = types.prefix(length)
        types = types.dropFirst(length)
        let type = Signature(checked: String(decoding: element, as: UTF8.self))
        guard element.first == TypeCode.dictionaryStart.rawValue else {
            var values: [Value] = []
            try array(of: type) { reader throws(DecodingFailure) in
                var types = element
                values.append(try reader.value(&types))
            }
            return .array(of: type, values)
        }
        // In {kv}, the key is one character.
        element = element.dropFirst().dropLast()
        var entries: [Value.Entry] = []
        try array(of: type) { reader throws(DecodingFailure) in
            try reader.structure { reader throws(DecodingFailure) in
                var types = element
                let key = try reader.value(&types)
                entries.append(Value.Entry(key: key, value: try reader.value(&types)))
            }
        }
        return .dictionary(
            key: Signature(checked: String(decoding: element.prefix(1), as: UTF8.self)),
            value: Signature(checked: String(decoding: element.dropFirst(), as: UTF8.self)),
            entries
        )
    }

    /// Returns the length of the first one of some types; nil if there is none.
    private static func lengthOfFirst(_ types: ArraySlice<UInt8>) -> Int? {
        var depth = 0
        for (place, code) in types.enumerated() {
            switch TypeCode(rawValue: code) {
            case .structureStart, .dictionaryStart: depth += 1
            case .structureEnd, .dictionaryEnd: depth -= 1
            default: break
            }
            if depth == 0, code != TypeCode.array.rawValue { return place + 1 }
        }
        return nil
    }

    // MARK: Leaves

    private static let tooShort = DecodingFailure("a value that goes beyond the message")

    /// Counts memory for a value; call it before the value is made.
    ///
    /// - Throws: ``DecodingFailure/tooLarge``.
    mutating func reserve(_ size: Int) throws(DecodingFailure) {
        memory -= size
        guard memory >= 0 else { throw .tooLarge }
    }

    /// Reads a number, aligned to its own size.
    mutating func number<Number: FixedWidthInteger>() throws(DecodingFailure) -> Number {
        let size = MemoryLayout<Number>.size
        align(to: size)
        guard size <= body.bytes.count - position else { throw Self.tooShort }
        defer { position += size }
        let number = body.bytes.loadUnaligned(fromByteOffset: position, as: Number.self)
        return body.isSwapped ? number.byteSwapped : number
    }

    mutating func text() throws(DecodingFailure) -> String {
        try text(ofBytes: Int(try number() as UInt32))
    }

    /// Reads a signature, whose length is one byte.
    mutating func shortText() throws(DecodingFailure) -> String {
        try text(ofBytes: Int(try number() as UInt8))
    }

    private mutating func text(ofBytes count: Int) throws(DecodingFailure) -> String {
        // A zero byte follows the text.
        guard count < body.bytes.count - position else { throw Self.tooShort }
        let start = position
        position += count + 1
        return String(
            decoding: UnsafeRawBufferPointer(rebasing: body.bytes[start..<start + count]),
            as: UTF8.self
        )
    }

    mutating func descriptor() throws(DecodingFailure) -> OpenDescriptor {
        // The number of the file in the message, which libdbus has used to find the file.
        _ = try number() as UInt32
        guard files != nil else { throw DecodingFailure("a Unix descriptor, which is not taken") }
        guard let descriptor = files?.popFirst() ?? nil else {
            throw DecodingFailure("a Unix descriptor that is none")
        }
        return descriptor
    }

    private mutating func align(to boundary: Int) {
        position = (position + boundary - 1) & ~(boundary - 1)
    }
}
