// SPDX-License-Identifier: Apache-2.0

/// One field of a request's header.
public struct HeaderField: Hashable, Sendable {
    /// The name, a token of RFC 9110 section 5.6.2.
    public let name: String
    /// The value, without controls other than tab.
    public let value: String

    /// Takes anything; what cannot be sent is refused when the transfer begins.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// Whether the field can be sent without becoming two fields, or a body.
    var isSendable: Bool {
        !name.isEmpty && name.utf8.allSatisfy(Self.isTokenByte) && value.isOneLine
    }

    /// Whether this is its name, given in small letters.
    func isNamed(_ name: String) -> Bool { self.name.lowercased() == name }

    /// The field as libcurl takes it (CURLOPT_HTTPHEADER(3)): a colon with nothing behind it
    /// would remove a field, so an empty value is said with a semicolon.
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
    /// Whether the text holds no control character but tab: it cannot break out of its line.
    var isOneLine: Bool { utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 } }
}
