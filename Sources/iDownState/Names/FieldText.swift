// SPDX-License-Identifier: Apache-2.0

/// Decodes bytes from the network into text.
package enum FieldText {
    /// Decodes valid UTF-8, or else Latin-1, which is defined for all bytes.
    package static func repair(_ bytes: some Collection<UInt8>) -> String {
        String(validating: bytes, as: UTF8.self) ?? latin1(bytes)
    }

    /// Decodes text in UTF-8, US-ASCII or Latin-1, named as in RFC 8187 or RFC 2047; returns nil
    /// for other names, and for bytes that are not valid.
    package static func decode(_ bytes: [UInt8], charset: some Collection<UInt8>) -> String? {
        switch repair(charset).lowercased() {
        case "utf-8", "utf8", "us-ascii": String(validating: bytes, as: UTF8.self)
        case "iso-8859-1", "latin1": latin1(bytes)
        default: nil
        }
    }

    private static func latin1(_ bytes: some Collection<UInt8>) -> String {
        String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}
