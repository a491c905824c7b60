// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Encodes values as they lie in a message, in this machine's byte order: D-Bus specification,
/// "Marshaling".
///
/// A writer checks sizes, depth, and that the elements of a ``Value`` have their container's type;
/// libdbus checks the finished message for all other rules (`dbus_message_demarshal`). The writer
/// keeps the first mistake, which is thrown when the message is made: nothing traps.
public struct WireWriter: Sendable {
    /// The largest array, in bytes: 60 MiB; the specification allows 64 MiB.
    static let maximumArraySize = 60 << 20

    /// The largest body, in bytes: 120 MiB; the specification allows 128 MiB including the header.
    static let maximumBodySize = 120 << 20

    /// The deepest nesting of containers, including variants; the specification allows 32 arrays
    /// and 32 structures.
    static let maximumDepth = 64

    /// All bytes so far; the first one is at an offset of a multiple of 8.
    public private(set) var bytes: [UInt8] = []
    /// The types of all arguments.
    private(set) var signature = Signature.empty
    /// The open files of the values of type `h`, by their numbers in the message.
    private(set) var descriptors: [OpenDescriptor] = []
    /// The first mistake, which keeps the message from being sent; nil if there is none.
    private(set) var fault: BusError?
    private var depth = 0

    /// Creates a writer that holds the arguments of a message.
    public init<each Argument: BusType>(_ arguments: repeat each Argument) {
        for argument in repeat each arguments {
            signature = signature + type(of: argument).signature
            argument.write(to: &self)
        }
    }

    /// Creates a writer that holds arguments whose types are known only when the program runs.
    init(contents: [Value]) {
        for content in contents {
            signature = signature + content.signature
            append(content: content)
        }
    }

    // MARK: Containers

    /// Appends an array; `fill` appends its elements.
    ///
    /// - Parameters:
    ///   - element: The type of the elements; for the entries of a dictionary, `{` is enough.
    ///   - fill: Appends the elements.
    public mutating func array(of element: Signature, _ fill: (inout WireWriter) -> Void) {
        append(number: UInt32(0))
        let place = bytes.count - 4
        align(to: element.alignment)
        let start = bytes.count
        nest(fill)
        let size = bytes.count - start
        if size > Self.maximumArraySize {
            fail(.limitsExceeded("An array may have at most \(Self.maximumArraySize >> 20) MiB."))
        }
        let length = UInt32(truncatingIfNeeded: size)
        bytes.withUnsafeMutableBytes {
            $0.storeBytes(of: length, toByteOffset: place, as: UInt32.self)
        }
    }

    /// Appends an entry of a dictionary.
    public mutating func entry(_ key: some BusType, _ value: some BusType) {
        structure { writer in
            key.write(to: &writer)
            value.write(to: &writer)
        }
    }

    /// Appends an entry of an `a{sv}` whose key and type are encoded already; `fill` appends the
    /// value, which must be of that type.
    public mutating func entry(_ head: EntryHead, _ fill: (inout WireWriter) -> Void) {
        align(to: 8)
        bytes.append(contentsOf: head.bytes)
        // One level for the entry, one for its variant.
        nest(levels: 2, fill)
    }

    /// Appends a structure; `fill` appends its members.
    public mutating func structure(_ fill: (inout WireWriter) -> Void) {
        align(to: 8)
        nest(fill)
    }

    /// Appends a variant whose type is known at compile time.
    public mutating func variant<Content: BusType>(of content: Content) {
        append(shortText: Content.signature.rawValue)
        nest { content.write(to: &$0) }
    }

    /// Appends a variant of any type.
    mutating func variant(_ content: Value) {
        let signature = content.signature
        switch content {
        case .array, .dictionary, .structure:
            if !signature.isSingleCompleteType {
                fail(.invalidArguments("\"\(signature)\" is not one complete type."))
            }
        default: break  // Its signature is one character.
        }
        append(shortText: signature.rawValue)
        nest { $0.append(content: content) }
    }

    private mutating func nest(levels: Int = 1, _ fill: (inout WireWriter) -> Void) {
        depth += levels
        defer { depth -= levels }
        guard depth <= Self.maximumDepth else {
            let most = Self.maximumDepth
            return fail(.limitsExceeded("Containers may be nested at most \(most) deep."))
        }
        fill(&self)
    }

    // MARK: Leaves

    /// Appends a number, aligned to its own size.
    mutating func append<Number: FixedWidthInteger>(number: Number) {
        align(to: MemoryLayout<Number>.size)
        withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
    }

    mutating func append(text: String) {
        var text = text
        text.withUTF8 { characters in
            append(number: UInt32(truncatingIfNeeded: characters.count))
            append(characters)
        }
    }

    /// Appends a signature, whose length is one byte.
    mutating func append(shortText: String) {
        var text = shortText
        text.withUTF8 { characters in
            let most = UInt8.max
            if characters.count > most {
                fail(.limitsExceeded("A signature may have at most \(most) bytes."))
            }
            bytes.append(UInt8(truncatingIfNeeded: characters.count))
            append(characters)
        }
    }

    private mutating func append(_ characters: UnsafeBufferPointer<UInt8>) {
        bytes.append(contentsOf: characters)
        bytes.append(0)
        if let start = characters.baseAddress, memchr(start, 0, characters.count) != nil {
            fail(.invalidArguments("A string must not contain U+0000."))
        }
    }

    mutating func append(descriptor: OpenDescriptor) {
        if fcntl(descriptor.number, F_GETFD) == -1 {
            fail(.invalidArguments("The descriptor \(descriptor.number) is not open."))
        }
        append(number: UInt32(truncatingIfNeeded: descriptors.count))
        descriptors.append(descriptor)
    }

    // MARK: Values whose types became known when the program ran

    /// Appends a value without a variant around it.
    mutating func append(content: Value) {
        switch content {
        case .byte(let value): append(number: value)
        case .boolean(let value): value.write(to: &self)
        case .int16(let value): append(number: value)
        case .uint16(let value): append(number: value)
        case .int32(let value): append(number: value)
        case .uint32(let value): append(number: value)
        case .int64(let value): append(number: value)
        case .uint64(let value): append(number: value)
        case .double(let value): append(number: value.bitPattern)
        case .string(let text): append(text: text)
        case .objectPath(let path): append(text: path.rawValue)
        case .signature(let value): append(shortText: value.rawValue)
        case .descriptor(let descriptor): append(descriptor: descriptor)
        case .array(let element, let values):
            array(of: element) { writer in
                for value in values { writer.append(value, as: element) }
            }
        case .dictionary(let key, let value, let entries):
            array(of: "{") { writer in
                for entry in entries {
                    writer.structure { writer in
                        writer.append(entry.key, as: key)
                        writer.append(entry.value, as: value)
                    }
                }
            }
        case .structure(let members):
            structure { writer in
                for member in members { writer.append(content: member) }
            }
        case .variant(let value): variant(value)
        }
    }

    private mutating func append(_ value: Value, as type: Signature) {
        let found = value.signature
        if found != type {
            fail(.invalidArguments("A container of \(type) holds a value of type \(found)."))
        }
        append(content: value)
    }

    // MARK: Bytes

    /// Appends bytes that another writer encoded from an offset of a multiple of 8 on.
    public mutating func append(_ block: ArraySlice<UInt8>) {
        align(to: 8)
        bytes.append(contentsOf: block)
    }

    /// Appends zeros up to a multiple of this many bytes, which is a power of 2.
    mutating func align(to boundary: Int) {
        while bytes.count & (boundary - 1) != 0 { bytes.append(0) }
    }

    /// Removes all bytes but keeps their memory allocated.
    public mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

    private mutating func fail(_ error: BusError) { if fault == nil { fault = error } }
}

/// The encoded key and type of an entry of an `a{sv}`, made once for many messages.
public struct EntryHead: Sendable {
    /// The bytes from an offset of a multiple of 8 up to where the value begins.
    fileprivate let bytes: [UInt8]

    /// Encodes the key and the type, which is one complete type.
    ///
    /// A key that cannot be sent is refused when the message is made.
    public init(_ key: String, _ type: Signature) {
        var writer = WireWriter()
        writer.append(text: key)
        writer.append(shortText: type.rawValue)
        writer.align(to: type.alignment)
        bytes = writer.bytes
    }
}

/// The only result of a method, which is encoded already.
struct Encoded<Content: BusType>: BusType {
    static var signature: Signature { Content.signature }
    private let result: WireWriter

    init(_ result: WireWriter) { self.result = result }
    init(from reader: inout WireReader) throws(DecodingFailure) {
        result = WireWriter(try Content(from: &reader))
    }
    func write(to writer: inout WireWriter) { writer = result }
}
