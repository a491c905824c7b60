// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Secrets
import iDownView

/// The server of a URL: the scheme, host and port for which a login is stored.
struct ServerArgument {
    let server: KeptLogins.Server
    /// The user name in the URL; nil if there is none.
    let user: String?

    /// Reads a URL.
    ///
    /// - Throws: `ExitCode` after saying why the URL is refused; the text repeats no part of the URL,
    ///   since it may hold a password.
    init(_ text: String) throws {
        guard let url = URLText(text), let start = text.firstRange(of: "://")?.upperBound else {
            throw Self.refusal("give a URL of the server, such as https://example.org/")
        }
        guard let usualPort = URLText.usualPorts[url.scheme] else {
            throw Self.refusal("logins are stored only for http, https, ftp, ftps and sftp URLs")
        }
        let authority = text[start...].prefix { !"/?#".contains($0) }
        let name = authority.lastIndex(of: "@").map { authority[..<$0] }
        guard name?.contains(":") != true else {
            throw Self.refusal("do not write a password into the URL; idown login asks for it")
        }
        let host = url.host.hasSuffix(".") ? String(url.host.dropLast()) : url.host
        guard !host.isEmpty, host.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Self.refusal(
                "the URL's host has letters other than ASCII; give its ASCII form, xn--…"
            )
        }
        let port = url.port.isEmpty ? Int(usualPort) : Int(url.port) ?? 0
        guard port > 0 else {
            throw Self.refusal("the URL's port must be a number from 1 to 65535")
        }
        user = try name.map(Self.userName)
        server = KeptLogins.Server(scheme: url.scheme, host: host, port: port)
    }

    /// Tells why the URL is refused, and returns the error that ends the command as `idown add` ends
    /// for such a URL.
    private static func refusal(_ text: String) -> ExitCode {
        Output.complain(text)
        return ExitStatus.refusedURL.exit
    }

    private static func userName(_ encoded: Substring) throws -> String {
        guard let name = URLText.percentDecoded(encoded),
            !name.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else {
            throw Self.refusal(
                "the user name in the URL is not valid; write a special character as % and two hex"
                    + " digits, or use --user"
            )
        }
        return name
    }
}
