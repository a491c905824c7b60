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
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
