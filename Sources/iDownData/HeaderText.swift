// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import iDownState

/// Stores header fields as JSON: an array of pairs, because the order counts and names may repeat.
enum HeaderText {
    /// Returns the JSON text; nil for no fields.
    static func text(of fields: [HeaderField]) -> String? {
        guard !fields.isEmpty else { return nil }
        let pairs = fields.map { [$0.name, $0.value] }
        guard let data = try? JSONEncoder().encode(pairs) else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    /// Returns the fields; nil for text that is not an array of pairs.
    static func fields(of text: String) -> [HeaderField]? {
        guard let pairs = try? JSONDecoder().decode([[String]].self, from: Data(text.utf8)),
            pairs.allSatisfy({ $0.count == 2 })
        else { return nil }
        return pairs.map { HeaderField(name: $0[0], value: $0[1]) }
    }
}
