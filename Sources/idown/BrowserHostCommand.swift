// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import iDownBrowser

/// `idown browser-host`: the native host of the extension for browsers, which they start.
struct BrowserHostCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "browser-host",
        abstract: "Answers the extension for browsers.",
        shouldDisplay: false
    )

    @Argument(parsing: .captureForPassthrough, help: "What the browser says of the extension.")
    var caller: [String] = []

    func run() async throws { try await BrowserHost.run(caller) }
}

extension BrowserHost {
    /// Answers messages on standard input until it ends.
    ///
    /// - Parameter arguments: The arguments that the browser gave.
    /// - Throws: `ExitCode` if another extension has started it.
    static func run(_ arguments: some Collection<String>) async throws {
        guard BrowserExtension.isOwn(arguments) else {
            Output.complain("only idown's own extension may call the native host")
            throw ExitStatus.usage.exit
        }
        // It ends with its input, not on SIGTERM, which would interrupt withdrawals.
        signal(SIGTERM, SIG_IGN)
        signal(SIGHUP, SIG_IGN)
        await BrowserHost().serve()
    }
}
