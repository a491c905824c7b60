// SPDX-License-Identifier: Apache-2.0

import Glibc
import iDownView

/// Standard input, output or error, which may be a terminal.
struct Terminal {
    private let descriptor: CInt

    static let input = Terminal(descriptor: STDIN_FILENO)
    static let output = Terminal(descriptor: STDOUT_FILENO)
    static let talk = Terminal(descriptor: STDERR_FILENO)

    /// Whether the stream is a terminal: isatty(3).
    var isTerminal: Bool {
        isatty(descriptor) == 1
    }

    /// Whether a person or a program reads the output.
    var reader: LineReader { isTerminal ? .terminal : .program }

    /// Whether another process group owns the terminal now: tcgetpgrp(3).
    var isInBackground: Bool {
        let group = tcgetpgrp(descriptor)
        return group >= 0 && group != getpgrp()
    }

    /// Cells in a line; nil if the stream is not a terminal.
    var width: Int? {
        guard isTerminal else { return nil }
        if let size, size.ws_col > 0 { return Int(size.ws_col) }
        return Self.variable("COLUMNS").flatMap(Int.init) ?? Self.usualWidth
    }

    /// Lines; nil if the stream is not a terminal.
    var height: Int? {
        guard isTerminal else { return nil }
        if let size, size.ws_row > 0 { return Int(size.ws_row) }
        return Self.variable("LINES").flatMap(Int.init) ?? Self.usualHeight
    }

    /// The size that the terminal reports: ioctl_tty(2).
    private var size: winsize? {
        var size = winsize()
        return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 ? size : nil
    }

    /// Colours if the terminal has them, unless the user switched them off: no-color.org.
    var style: Style {
        if Self.variable("NO_COLOR")?.isEmpty == false { return .plain }
        if let force = Self.variable("CLICOLOR_FORCE"), !force.isEmpty, force != "0" {
            return Style(isColored: true)
        }
        return Style(isColored: isTerminal && canMove)
    }

    /// Whether the terminal understands escape sequences.
    var canMove: Bool {
        isTerminal && !["dumb", "", nil].contains(Self.variable("TERM"))
    }

    private static let usualWidth = 80
    private static let usualHeight = 24

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
