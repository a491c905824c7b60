// SPDX-License-Identifier: Apache-2.0

/// The parts of a URL in the normal form in which it is recorded.
///
/// They are found by bytes: every task's URL is read often, and as a character a slash would differ
/// with a combining mark after it.
struct URLParts {
    /// The text before `://`.
    let scheme: Substring
    /// The text from there to the path, with user and password.
    let authority: Substring
    /// Host and port: the text after the last `@`, since a password may contain another one.
    let address: Substring
    /// The text from the first slash after the address, without query and fragment; may be empty.
    let path: Substring

    var hasLogin: Bool { address.startIndex != authority.startIndex }

    /// User and password as they stand before the `@`; nil where there are none.
    var login: Substring? { hasLogin ? authority[..<address.startIndex].dropLast() : nil }

    /// Returns the URL with a login before its host; unchanged if it has one or is not valid.
    static func adding(_ login: some StringProtocol, to url: String) -> String {
        guard let parts = URLParts(url), !parts.hasLogin else { return url }
        return url[..<parts.authority.startIndex] + login + "@" + url[parts.address.startIndex...]
    }

    /// Returns nil for text that is not a URL.
    init?(_ url: String) {
        var url = url
        guard let places = url.withUTF8({ Places($0[...]) }) else { return nil }
        let bytes = url.utf8
        func index(_ place: Int) -> String.Index { bytes.index(bytes.startIndex, offsetBy: place) }
        let end = index(places.path)
        scheme = url[..<index(places.colon)]
        authority = url[index(places.authority)..<end]
        address = url[index(places.address)..<end]
        path = url[end..<index(places.end)]
    }

    /// The offsets at which the parts begin, in bytes.
    private struct Places {
        let colon: Int
        let authority: Int
        let address: Int
        let path: Int
        /// The offset at which the path ends.
        let end: Int

        init?(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) {
            let slash = UInt8(ascii: "/")
            let isEnd: (UInt8) -> Bool = { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
            let mark = bytes.indices.first { place in
                bytes[place] == UInt8(ascii: ":")
                    && bytes[(place + 1)...].starts(with: [slash, slash])
            }
            guard let mark else { return nil }
            colon = mark
            authority = mark + 3
            path = bytes[authority...].firstIndex { $0 == slash || isEnd($0) } ?? bytes.endIndex
            let at = bytes[authority..<path].lastIndex(of: UInt8(ascii: "@"))
            address = at.map { $0 + 1 } ?? authority
            end = bytes[path...].firstIndex(where: isEnd) ?? bytes.endIndex
        }
    }
}
