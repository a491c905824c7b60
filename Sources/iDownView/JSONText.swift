// SPDX-License-Identifier: Apache-2.0

private import FoundationEssentials

/// Values as JSON text for programs: keys sorted, so that the same values give the same bytes.
package enum JSONText {
    /// The text of one value, without an end of line.
    package static func of(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
