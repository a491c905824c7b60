// SPDX-License-Identifier: Apache-2.0

import iDownState

/// A Content-Disposition field, read as browsers read it (RFC 6266, RFC 8187).
package struct ContentDisposition: Hashable, Sendable {
    /// The file's name: one path element, but not yet a safe one; nil where there is none.
    package let fileName: String?

    /// Reads the field's raw value; what cannot be read is passed over.
    package init(_ field: some Sequence<UInt8>) {
        var parameters = FieldParameters(field)
        var plain: String?
        var extended: String?
        // Of a name that is given twice the first counts, as in browsers.
        while let (name, value) = parameters.next() {
            switch name {
            case "filename" where plain == nil: plain = Self.decode(plain: value)
            case "filename*" where extended == nil: extended = Self.decode(extended: value)
            default: continue
            }
        }
        // RFC 6266 section 4.3: who can read both takes the extended one.
        fileName = (extended ?? plain).flatMap(Self.lastElement)
    }

    /// Servers send whole paths, of their own disks and of Windows as well; only the end of one
    /// is a name.
    private static func lastElement(of path: String) -> String? {
        path.unicodeScalars.split { $0 == "/" || $0 == "\\" }.last.map(String.init)
    }

    /// `UTF-8'en'%e2%82%ac.txt` (RFC 8187 section 3.2); nil for another character set.
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

    /// A plain value, as servers really send it: raw UTF-8 or Latin-1, encoded words of mail
    /// (RFC 2047), or percent-encoded as a URL is; no RFC allows more than Latin-1.
    private static func decode(plain value: [UInt8]) -> String? {
        guard value.allSatisfy({ $0 < 0x80 }) else { return FieldText.repair(value) }
        if let words = EncodedWords.decode(value) { return words }
        return String(validating: PercentEncoding.decode(value), as: UTF8.self)
            ?? FieldText.repair(value)
    }
}
