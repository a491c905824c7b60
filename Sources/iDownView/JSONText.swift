// SPDX-License-Identifier: Apache-2.0

private import FoundationEssentials

/// Writes values as JSON text with sorted keys, so that equal values give equal bytes.
package enum JSONText {
    /// Returns the indented text of a value, without a line feed at its end.
    package static func of(_ value: some Encodable) throws -> String {
        let text = try text(value, [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
        // Foundation writes a blank line between the brackets of an empty array. Only a whole text
        // is replaced, since the same characters may be part of a string.
        return text == "[\n\n]" ? "[]" : text
    }

    /// Returns the text of a value on one line, without a line feed at its end.
    package static func line(of value: some Encodable) throws -> String {
        try text(value, [.sortedKeys, .withoutEscapingSlashes])
    }

    private static func text(
        _ value: some Encodable,
        _ format: JSONEncoder.OutputFormatting
    ) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = format
        let text = String(decoding: try encoder.encode(value), as: UTF8.self)
        guard text.unicodeScalars.contains(where: isCommand) else { return text }
        // Outside of strings JSON has none of them.
        return text.unicodeScalars.reduce(into: "") { text, scalar in
            guard isCommand(scalar) else { return text.unicodeScalars.append(scalar) }
            let digits = String(scalar.value, radix: 16)
            text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }

    /// Whether a terminal would obey a character: DEL, C1, and the marks that turn text around.
    private static func isCommand(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x7F...0x9F, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
