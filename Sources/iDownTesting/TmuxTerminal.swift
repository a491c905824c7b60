// SPDX-License-Identifier: Apache-2.0

/// A real terminal that a test types into and reads: tmux(1).
package final class TmuxTerminal: Sendable {
    private let server: ChildProcess
    private let socket: String
    private let environment: [String: String]

    private init(server: ChildProcess, socket: String, environment: [String: String]) {
        self.server = server
        self.socket = socket
        self.environment = environment
    }

    /// Starts a terminal in which a shell runs a script.
    ///
    /// - Parameters:
    ///   - script: What the shell runs; the terminal ends with it.
    ///   - folder: The folder in which the shell starts. The socket is made there, so its path has to
    ///     be short: unix(7).
    ///   - size: The width in cells and the height in lines.
    ///   - environment: The script's whole environment except TERM.
    /// - Returns: The terminal, which the caller must stop.
    /// - Throws: ``ChildProcess/StartFailure``, ``TimedOut``.
    package static func start(
        _ script: String,
        in folder: String,
        size: (width: Int, height: Int),
        environment: [String: String]
    ) async throws -> TmuxTerminal {
        var environment = environment
        environment["LC_ALL"] = "C.UTF-8"
        environment["SHELL"] = "/bin/sh"
        let socket = "\(folder)/tmux"
        // -D keeps the server a child of this process, which ends with it, instead of a daemon.
        let server = try await ChildProcess.start(
            "tmux",
            ["-u", "-D", "-S", socket, "-f", "/dev/null"],
            environment: environment
        )
        let terminal = TmuxTerminal(server: server, socket: socket, environment: environment)
        let size = ["-x", "\(size.width)", "-y", "\(size.height)"]
        try await within("tmux to start") {
            // The server makes its socket some time after its start.
            while try await !terminal.tmux(["new-session", "-d", "-c", folder] + size + [script])
                .succeeded
            {
                await Task.yield()
            }
        }
        return terminal
    }

    /// Presses keys, given by their names in tmux, or types texts.
    package func press(_ keys: String...) async throws {
        try await tmux(["send-keys"] + keys)
    }

    /// Pastes a text, as a bracketed paste if the program has asked for that.
    package func paste(_ text: String) async throws {
        try await tmux(["set-buffer", text])
        try await tmux(["paste-buffer", "-p"])
    }

    /// Changes the size of the terminal.
    package func resize(width: Int, height: Int) async throws {
        try await tmux(["resize-window", "-x", "\(width)", "-y", "\(height)"])
    }

    /// Returns the text on the screen, without blanks at the ends of lines.
    package func screen() async throws -> String {
        try await tmux(["capture-pane", "-p"]).standardOutput
    }

    /// Returns the text on the screen with its colours as SGR sequences.
    package func coloredScreen() async throws -> String {
        try await tmux(["capture-pane", "-p", "-e"]).standardOutput
    }

    /// Returns a property of the terminal, such as `alternate_on`.
    package func property(_ name: String) async throws -> String {
        try await tmux(["display-message", "-p", "#{\(name)}"]).standardOutput
    }

    /// Waits until the screen meets a condition.
    ///
    /// - Returns: The screen.
    @discardableResult
    package func wait(
        for what: String,
        until isThere: @escaping @Sendable (String) -> Bool
    ) async throws -> String {
        do {
            return try await within(what) {
                while true {
                    let screen = try await self.screen()
                    if isThere(screen) { return screen }
                    try Task.checkCancellation()
                }
            }
        } catch let error as TimedOut {
            let screen = try await screen()
            throw TimedOut(description: "\(error.description); there is:\n\(screen)")
        }
    }

    /// Waits until a text is on the screen.
    @discardableResult
    package func wait(for text: String) async throws -> String {
        try await wait(for: "\"\(text)\" on the screen") { $0.contains(text) }
    }

    /// Ends the terminal and every program in it.
    package func stop() async {
        _ = try? await tmux(["kill-server"])
        await server.stop()
    }

    @discardableResult
    private func tmux(_ arguments: [String]) async throws -> ChildProcess.Completed {
        try await ChildProcess.run(
            "tmux",
            ["-u", "-S", socket] + arguments,
            environment: environment
        )
    }
}
