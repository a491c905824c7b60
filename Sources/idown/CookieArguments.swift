// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import iDownView

/// The options that give a download its cookies, on the command line or by a file.
struct CookieArguments: ParsableArguments {
    @Option(
        name: [.customShort("b"), .long],
        help: ArgumentHelp(
            "Cookies to send: name=value; repeatable. Without a = it names a cookie file.",
            valueName: "cookies"
        )
    )
    var cookie: [String] = []

    @Option(
        help: ArgumentHelp(
            "Cookie file in Netscape's format, as for wget and curl.",
            valueName: "file"
        ),
        completion: .file()
    )
    var loadCookies: String?

    func validate() throws {
        if !cookie.isEmpty, loadCookies != nil {
            throw ValidationError("give cookies by --cookie or by --load-cookies, not by both")
        }
        if cookie.count > 1, value == nil {
            throw ValidationError(
                "--cookie names one cookie file, or cookies of the form name=value"
            )
        }
    }

    /// The cookies on the command line; nil if none or a file is given.
    var value: String? {
        let isValue = !cookie.isEmpty && cookie.allSatisfy { $0.contains("=") }
        return isValue ? cookie.joined(separator: "; ") : nil
    }

    /// The cookie file; nil where none is given.
    var path: String? {
        loadCookies ?? cookie.first.flatMap { $0.contains("=") || $0.isEmpty ? nil : $0 }
    }

    /// Reads the cookie file; nil where none is given.
    func file() throws -> CookieFile? {
        guard let path else { return nil }
        let text = try InputFile.text(of: path)
        do {
            return try CookieFile(text)
        } catch {
            Output.complain(error.text(InputFile.name(of: path)))
            throw ExitStatus.refusedOption.exit
        }
    }
}

extension CookieFile.BadLine {
    /// Tells that the file with this name is not a cookie file.
    func text(_ name: some CustomStringConvertible) -> String {
        "\(name) is not a cookie file in Netscape's format: see line \(number)"
    }
}

extension CookieFile {
    /// The cookies that belong to a URL and have not expired; nil for none.
    func cookies(for url: String) -> String? {
        header(for: url, now: UInt64(max(0, time(nil))))
    }
}
