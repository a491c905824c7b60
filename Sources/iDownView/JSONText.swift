// SPDX-License-Identifier: Apache-2.0

private import FoundationEssentials

/// Values as JSON text for programs: keys sorted, so that the same values give the same bytes.
package enum JSONText {
    /// The text of one value, without an end of line.
    package static func of(_ value: some Encodable) throws -> String {
        let text = try text(value, [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
        // Foundation leaves a line between the brackets; inside a value it cannot be told.
        return text == "[\n\n]" ? "[]" : text
    }

    /// The text of one value in one line, without its end.
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
