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

    /// Nil for what is no URL.
    init?(_ url: String) {
        let bytes = url.utf8
        var rest = bytes[...]
        while let colon = rest.firstIndex(of: UInt8(ascii: ":")) {
            let behind = bytes[bytes.index(after: colon)...]
            guard behind.starts(with: [UInt8(ascii: "/"), UInt8(ascii: "/")]) else {
                rest = behind
                continue
            }
            let start = bytes.index(colon, offsetBy: 3)
            let end = bytes[start...].firstIndex { byte in
                byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
            }
            scheme = url[..<colon]
            let authority = url[start..<(end ?? bytes.endIndex)]
            let at = authority.utf8.lastIndex(of: UInt8(ascii: "@"))
            self.authority = authority
            address = at.map { authority[bytes.index(after: $0)...] } ?? authority
            let behindAddress = url[authority.endIndex...].utf8
            path = Substring(
                behindAddress.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
            )
            return
        }
        return nil
    }
}
