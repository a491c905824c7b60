// SPDX-License-Identifier: Apache-2.0

/// Where the parts of a URL stand that is in the normal form in which it is recorded.
///
/// Found by bytes: every task is looked at many times, and to a combining mark behind it a slash
/// would be another character.
struct URLParts {
    /// What stands before `://`.
    let scheme: Substring
    /// From there to the path, with user and password.
    let authority: Substring
    /// Host and port: what stands behind the last `@`, since a password may hold another one.
    let address: Substring
    /// From the first slash behind the address, without query and fragment; it may be empty.
    let path: Substring

    var hasLogin: Bool { address.startIndex != authority.startIndex }

    /// User and password as they stand before the `@`; nil where there is none.
    var login: Substring? {
        hasLogin ? authority[..<address.startIndex].dropLast() : nil
    }

    /// The URL with a login in front of its host; as it is where it has one, or is no URL.
    static func adding(_ login: some StringProtocol, to url: String) -> String {
        guard let parts = URLParts(url), !parts.hasLogin else { return url }
        return url[..<parts.authority.startIndex] + login + "@" + url[parts.address.startIndex...]
    }

    /// Nil for what is no URL.
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

    /// Where the parts begin, counted in bytes.
    private struct Places {
        let colon: Int
        let authority: Int
        let address: Int
        let path: Int
        /// Where the path ends.
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
