// SPDX-License-Identifier: Apache-2.0

/// The rules that several kinds of names share: D-Bus specification, "Valid Names".
enum NameRules {
    /// The longest bus, interface, error or member name, in bytes.
    static let maximumLength = 255

    static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    static func isLetter(_ byte: UInt8) -> Bool {
        let lowercased = byte | 0x20
        return lowercased >= UInt8(ascii: "a") && lowercased <= UInt8(ascii: "z")
    }

    /// One of `[A-Z][a-z][0-9]_`.
    static func isWordCharacter(_ byte: UInt8) -> Bool {
        isLetter(byte) || isDigit(byte) || byte == UInt8(ascii: "_")
    }

    /// Returns the rule that a text of at least two dotted elements breaks; nil if it breaks none.
    static func fault(
        in text: String,
        dotted: Substring.UTF8View,
        allowsDash: Bool = false,
        allowsLeadingDigit: Bool = false
    ) -> String? {
        guard text.utf8.count <= maximumLength else { return "longer than \(maximumLength) bytes" }
        let elements = dotted.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard elements.count >= 2 else { return "fewer than two elements separated by dots" }
        for element in elements {
            guard let first = element.first else { return "an empty element" }
            guard allowsLeadingDigit || !isDigit(first) else {
                return "an element that starts with a digit"
            }
            let isAllowed = element.allSatisfy {
                isWordCharacter($0) || (allowsDash && $0 == UInt8(ascii: "-"))
            }
            guard isAllowed else { return "a character that is not allowed" }
        }
        return nil
    }
}
