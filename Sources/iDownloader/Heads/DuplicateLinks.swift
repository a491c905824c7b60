// SPDX-License-Identifier: Apache-2.0

import iDownState

/// The mirrors that a response's Link fields name: `<URL>; rel=duplicate; pri=1` (RFC 6249
/// section 3, RFC 8288 section 3).
enum DuplicateLinks {
    /// The most links kept: a head of 300 KiB has room for thousands.
    private static let most = 200

    /// Returns the unresolved references, those with the smallest `pri` first.
    static func references(_ fields: FieldList) -> [String] {
        var found: [(reference: String, priority: Int64)] = []
        for value in fields.all("link") {
            for link in value.splitAtCommas where found.count < most {
                guard let duplicate = duplicate(link) else { continue }
                found.append(duplicate)
            }
        }
        return found.sorted { $0.priority < $1.priority }.map(\.reference)
    }

    private static func duplicate(_ link: ArraySlice<UInt8>) -> (String, Int64)? {
        let link = link.trimmed
        guard link.first == UInt8(ascii: "<"), let end = link.firstIndex(of: UInt8(ascii: ">"))
        else { return nil }
        let reference = link[link.index(after: link.startIndex)..<end]
        var parameters = FieldParameters(link[link.index(after: end)...])
        var relation: [UInt8]?
        // RFC 6249 section 3.1: a link without `pri` comes last.
        var priority: Int64 = 999_999
        while let (name, value) = parameters.next() {
            switch name {
            // RFC 8288 section 3.3: only the first counts.
            case "rel" where relation == nil: relation = value
            case "pri": priority = value.decimal ?? priority
            // The link describes another resource than this one.
            case "anchor": return nil
            default: continue
            }
        }
        let relations = relation?.split(separator: 0x20) ?? []
        guard relations.contains(where: { $0.isWord("duplicate") }) else { return nil }
        return (PercentEncoding.encodeNonASCII(Array(reference)), priority)
    }
}
