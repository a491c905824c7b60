// SPDX-License-Identifier: Apache-2.0

/// Skips the complete types of a signature, and reports the first rule that it breaks.
struct SignatureScanner<Codes: Collection<UInt8>> where Codes.SubSequence == Codes {
    /// The deepest nesting of arrays, and of structures: D-Bus specification, "Valid Signatures".
    private static var maximumDepth: Int { 32 }

    private(set) var rest: Codes
    private var arrays = 0
    private var structures = 0

    init(_ codes: Codes) { rest = codes }

    var isAtEnd: Bool { rest.isEmpty }

    /// Skips one complete type; returns the rule that the type breaks, nil if none.
    mutating func skipType() -> String? {
        guard let byte = rest.popFirst() else { return "a type is missing" }
        switch TypeCode(rawValue: byte) {
        case .array: return skipArray()
        case .structureStart: return skipStructure()
        case .dictionaryStart: return "a dictionary entry outside of an array"
        case .structureEnd, .dictionaryEnd: return "a bracket that closes nothing"
        case nil: return "an unknown type code"
        default: return nil
        }
    }

    /// Skips the type of an array's elements.
    mutating func skipArray() -> String? {
        arrays += 1
        defer { arrays -= 1 }
        guard arrays <= Self.maximumDepth else { return "more than 32 nested arrays" }
        guard rest.first == TypeCode.dictionaryStart.rawValue else { return skipType() }
        rest.removeFirst()
        return skipDictionaryEntry()
    }

    private mutating func skipDictionaryEntry() -> String? {
        // An entry counts as a structure, as it does in libdbus.
        structures += 1
        defer { structures -= 1 }
        guard structures <= Self.maximumDepth else { return "more than 32 nested structures" }
        guard let key = rest.popFirst().flatMap(TypeCode.init(rawValue:)), key.isBasic else {
            return "a dictionary key that is no basic type"
        }
        if let reason = skipType() { return reason }
        guard rest.popFirst() == TypeCode.dictionaryEnd.rawValue else {
            return "a dictionary entry without exactly two types"
        }
        return nil
    }

    private mutating func skipStructure() -> String? {
        structures += 1
        defer { structures -= 1 }
        guard structures <= Self.maximumDepth else { return "more than 32 nested structures" }
        guard rest.first != TypeCode.structureEnd.rawValue else { return "an empty structure" }
        while rest.first != TypeCode.structureEnd.rawValue {
            if let reason = skipType() { return reason }
        }
        rest.removeFirst()
        return nil
    }
}
