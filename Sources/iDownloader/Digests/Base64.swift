// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Base 64 (RFC 4648 section 4) in header fields.
enum Base64 {
    /// Returns the decoded bytes; nil for invalid text.
    ///
    /// Padding may be missing (RFC 8941 section 4.2.7).
    static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let digits = text.prefix { $0 != UInt8(ascii: "=") }
        let padding = [UInt8](repeating: UInt8(ascii: "="), count: (4 - digits.count % 4) % 4)
        guard text.dropFirst(digits.count).allSatisfy({ $0 == UInt8(ascii: "=") }) else {
            return nil
        }
        return Data(base64Encoded: Data(digits + padding)).map(Array.init)
    }
}
