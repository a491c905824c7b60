// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Secrets
import iDownView

/// The server of a URL: the scheme, host and port for which a login is stored.
struct ServerArgument {
    let server: KeptLogins.Server
    /// The user name in the URL; nil if there is none.
    let user: String?

    /// The default port of each scheme.
    private static let ports = ["http": 80, "https": 443, "ftp": 21, "ftps": 990, "sftp": 22]

    /// Reads a URL.
    ///
    /// - Throws: `ValidationError`, which repeats no part of the URL, since it may hold a password.
    init(_ text: String) throws {
        guard let end = text.firstRange(of: "://") else {
            throw ValidationError("give a URL of the server, such as https://example.org/")
        }
        let scheme = text[..<end.lowerBound].lowercased()
        guard let defaultPort = Self.ports[scheme] else {
            throw ValidationError(
                "logins are stored only for http, https, ftp, ftps and sftp URLs"
            )
        }
        let authority = text[end.upperBound...].prefix { !"/?#".contains($0) }
        var address = authority
        if let at = authority.lastIndex(of: "@") {
            address = authority[authority.index(after: at)...]
            let name = authority[..<at]
            guard !name.contains(":") else {
                throw ValidationError(
                    "do not write a password into the URL; idown login asks for it"
                )
            }
            user = try Self.userName(name)
        } else {
            user = nil
        }
        var (host, port) = (address, defaultPort)
        let bracket = address.lastIndex(of: "]") ?? address.startIndex
        if let colon = address[bracket...].lastIndex(of: ":") {
            host = address[..<colon]
            guard let number = UInt16(address[address.index(after: colon)...]), number > 0 else {
                throw ValidationError("the URL's port must be a number from 1 to 65535")
            }
            port = Int(number)
        }
        if host.hasSuffix(".") { host.removeLast() }
        guard !host.isEmpty, host.utf8.allSatisfy(Self.isAllowedInHost) else {
            throw ValidationError(
                "the URL has no host, or a host with non-ASCII letters; give its ASCII form, xn--…"
            )
        }
        server = KeptLogins.Server(scheme: scheme, host: host.lowercased(), port: port)
    }

    private static func isAllowedInHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~[]:".utf8.contains(byte)
        }
    }

    private static func userName(_ encoded: Substring) throws -> String {
        guard let name = URLText.percentDecoded(encoded),
            !name.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else {
            throw ValidationError(
                "the user name in the URL is not valid; write a special character as % and two hex"
                    + " digits, or use --user"
            )
        }
        return name
    }
}
