// SPDX-License-Identifier: Apache-2.0

// What is checked before libcurl's parser reads a text, because that parser is more lenient: it
// accepts one to three slashes, and blanks or bytes beyond ASCII anywhere.

extension URLReference {
    /// Returns the scheme of any text, in small letters; nil where there is none (RFC 3986 section
    /// 3.1).
    ///
    /// For `javascript:alert(1)`, which is not a valid ``URLReference``, it returns `javascript`.
    public static func scheme(of text: String) -> String? {
        let bytes = trimmed(text).utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            let first = bytes.first, isLetter(first)
        else { return nil }
        let name = bytes[..<colon]
        let isValid = name.allSatisfy { byte in
            isLetter(byte) || (0x30...0x39).contains(byte) || "+-.".utf8.contains(byte)
        }
        return isValid ? String(name)?.lowercased() : nil
    }

    /// Returns an absolute URL ready for `curl_url_set`: trimmed, encoded, without a fragment.
    static func preparedText(_ text: String) throws(URLFailure) -> String {
        let encoded = try encodedReference(trimmed(text))
        guard let scheme = scheme(of: encoded) else { throw .scheme }
        let rest = encoded.utf8.dropFirst(scheme.utf8.count + 1)
        guard rest.starts(with: "//".utf8) else { throw .slashes }
        let authority = rest.dropFirst(2)
        if authority.first == UInt8(ascii: "/") { throw .slashes }
        if authority.isEmpty || authority.first == UInt8(ascii: "?") { throw .noHost }
        return encoded
    }

    /// Returns a reference, relative or not, with path and query in printable ASCII and without a
    /// fragment.
    ///
    /// In the authority only the user's part is encoded: hosts have rules of their own.
    static func encodedReference(_ text: Substring) throws(URLFailure) -> String {
        let bytes = text.utf8
        guard bytes.count <= maximumLength else { throw .tooLong }
        // A fast path: nearly all URLs are plain, and lists have thousands of them.
        let isPlain = bytes.withContiguousStorageIfAvailable { bytes in
            bytes.allSatisfy { byte in
                (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "\\")
                    && byte != UInt8(ascii: "#")
            }
        }
        if isPlain == true { return String(text) }
        for byte in bytes {
            if byte < 0x20 || byte == 0x7F { throw .controlCharacter }
            if byte == UInt8(ascii: "\\") { throw .backslash }
        }
        let whole = bytes.prefix { $0 != UInt8(ascii: "#") }
        let host = hostPart(of: whole)
        var encoded: [UInt8] = []
        encoded.reserveCapacity(whole.count)
        for index in whole.indices {
            let byte = whole[index]
            if host.contains(index) || (0x21...0x7E).contains(byte) {
                encoded.append(byte)
            } else {
                // A blank, or a byte beyond ASCII: always two digits.
                encoded += "%\(String(byte, radix: 16, uppercase: true))".utf8
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Returns the text without blanks around it; line ends are not blanks, and are refused later.
    static func trimmed(_ text: String) -> Substring {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        let start = text.drop(while: isBlank)
        guard let last = start.lastIndex(where: { !isBlank($0) }) else { return "" }
        return start[...last]
    }

    /// Returns where host and port are, after the last `@` of the authority; empty for a relative
    /// reference.
    private static func hostPart(of bytes: Substring.UTF8View.SubSequence) -> Range<String.Index> {
        let end = bytes.endIndex
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            bytes[..<colon].allSatisfy({ $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }),
            bytes[colon...].dropFirst().starts(with: "//".utf8)
        else { return end..<end }
        let authority = bytes[colon...].dropFirst(3).prefix { byte in
            byte != UInt8(ascii: "/") && byte != UInt8(ascii: "?")
        }
        guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else {
            return authority.startIndex..<authority.endIndex
        }
        return bytes.index(after: at)..<authority.endIndex
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
}
