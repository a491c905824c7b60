// SPDX-License-Identifier: Apache-2.0

/// Text of bytes that somebody else wrote.
package enum FieldText {
    /// UTF-8 where it is valid, else Latin-1, which every sequence of bytes is.
    package static func repair(_ bytes: some Sequence<UInt8>) -> String {
        let text = bytes.withContiguousStorageIfAvailable { bytes in
            String(validating: bytes, as: UTF8.self)
        }
        if let text, let text { return text }
        let bytes = Array(bytes)
        return String(validating: bytes, as: UTF8.self) ?? latin1(bytes)
    }

    /// Text in a character set that RFC 8187 or RFC 2047 names; nil for any other, and for bytes
    /// that are none of its text.
    package static func decode(_ bytes: [UInt8], charset: some Sequence<UInt8>) -> String? {
        switch repair(charset).lowercased() {
        case "utf-8", "utf8", "us-ascii": String(validating: bytes, as: UTF8.self)
        case "iso-8859-1", "latin1": latin1(bytes)
        default: nil
        }
    }

    private static func latin1(_ bytes: [UInt8]) -> String {
        String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}
