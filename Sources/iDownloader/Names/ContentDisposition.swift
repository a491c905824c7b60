// SPDX-License-Identifier: Apache-2.0

import iDownState

/// A Content-Disposition field, read as browsers read it (RFC 6266, RFC 8187).
package struct ContentDisposition: Hashable, Sendable {
    /// The file's name: one path element that is not sanitized yet; nil if there is none.
    package let fileName: String?

    /// Reads the field's raw value; unreadable parts are ignored.
    package init(_ field: some Sequence<UInt8>) {
        var parameters = FieldParameters(field)
        var plain: String?
        var extended: String?
        // If a parameter is given twice, the first counts, as in browsers.
        while let (name, value) = parameters.next() {
            switch name {
            case "filename" where plain == nil: plain = Self.decode(plain: value)
            case "filename*" where extended == nil: extended = Self.decode(extended: value)
            default: continue
            }
        }
        // RFC 6266 section 4.3: the extended form is preferred.
        fileName = (extended ?? plain)?.lastPathElement
    }

    /// Decodes a value such as `UTF-8'en'%e2%82%ac.txt` (RFC 8187 section 3.2); returns nil for an
    /// unknown character set.
    private static func decode(extended value: [UInt8]) -> String? {
        let parts = value.split(
            separator: UInt8(ascii: "'"),
            maxSplits: 2,
            omittingEmptySubsequences: false
        )
        guard parts.count == 3 else { return nil }
        let bytes = PercentEncoding.decode(parts[2])
        return FieldText.decode(bytes, charset: parts[0])
    }

    /// Decodes a plain value in the forms that servers send.
    ///
    /// These are raw UTF-8 or Latin-1, encoded words of mail (RFC 2047), or percent-encoding as in
    /// URLs. The RFCs allow Latin-1 only.
    private static func decode(plain value: [UInt8]) -> String? {
        guard value.allSatisfy({ $0 < 0x80 }) else { return FieldText.repair(value) }
        if let words = EncodedWords.decode(value) { return words }
        return String(validating: PercentEncoding.decode(value), as: UTF8.self)
            ?? FieldText.repair(value)
    }
}

extension String {
    /// The last element of a path; whole paths come from servers, with `/` or with `\`.
    var lastPathElement: String? {
        unicodeScalars.split { $0 == "/" || $0 == "\\" }.last.map(String.init)
    }
}
