// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Secrets

/// The server of a URL, as the service tells one from another.
struct ServerArgument {
    let server: KeptLogins.Server
    /// The user that the URL names.
    let user: String?

    private static let ports = ["http": 80, "https": 443, "ftp": 21, "ftps": 990, "sftp": 22]

    /// - Throws: a `ValidationError`, which repeats nothing of the URL: a password may stand in it.
    init(_ text: String) throws {
        guard let end = text.firstRange(of: "://") else {
            throw ValidationError("a URL such as https://example.org/ names the server")
        }
        let scheme = text[..<end.lowerBound].lowercased()
        guard let usual = Self.ports[scheme] else {
            throw ValidationError(
                "logins are kept for http, https, ftp, ftps and sftp servers"
            )
        }
        let authority = text[end.upperBound...].prefix { !"/?#".contains($0) }
        var address = authority
        if let at = authority.lastIndex(of: "@") {
            address = authority[authority.index(after: at)...]
            let name = authority[..<at]
            guard !name.contains(":") else {
                throw ValidationError("a password is asked for, and does not stand in the URL")
            }
            user = try Self.decoded(name)
        } else {
            user = nil
        }
        var (host, port) = (address, usual)
        let bracket = address.lastIndex(of: "]") ?? address.startIndex
        if let colon = address[bracket...].lastIndex(of: ":") {
            host = address[..<colon]
            guard let number = UInt16(address[address.index(after: colon)...]), number > 0 else {
                throw ValidationError("the port of the URL is none")
            }
            port = Int(number)
        }
        if host.hasSuffix(".") { host.removeLast() }
        guard !host.isEmpty, host.utf8.allSatisfy(Self.isOfHost) else {
            throw ValidationError("the host of the URL is none, or not in its ASCII form")
        }
        server = KeptLogins.Server(scheme: scheme, host: host.lowercased(), port: port)
    }

    private static func isOfHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~[]:".utf8.contains(byte)
        }
    }

    private static func decoded(_ name: Substring) throws -> String {
        var bytes: [UInt8] = []
        var rest = name.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, let value = UInt8(digits, radix: 16) else {
                throw ValidationError("a % in the URL comes before two hex digits")
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        guard let text = String(validating: bytes, as: UTF8.self),
            !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else {
            throw ValidationError("the user's name in the URL is no text")
        }
        return text
    }
}
