// SPDX-License-Identifier: Apache-2.0

/// One header field of a request.
public struct HeaderField: Hashable, Sendable {
    /// The name, a token of RFC 9110 section 5.6.2.
    public let name: String
    /// The value, without control characters except tab.
    public let value: String

    /// Takes any text; a field that cannot be sent is refused when the transfer begins.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// Whether the field can be sent without turning into two fields, or a body.
    var isSendable: Bool {
        !name.isEmpty && name.utf8.allSatisfy(Self.isTokenByte) && value.isOneLine
    }

    /// Whether the field has this name, given in small letters.
    func isNamed(_ name: String) -> Bool { self.name.lowercased() == name }

    /// The field for libcurl (CURLOPT_HTTPHEADER(3)): a name followed only by a colon would remove
    /// the field, so an empty value is written as a semicolon.
    var line: String { value.allSatisfy { $0 == " " } ? "\(name);" : "\(name): \(value)" }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default:
            "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

extension String {
    /// Whether the text has no control character except tab, so that it cannot leave its line.
    var isOneLine: Bool { utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 } }
}
