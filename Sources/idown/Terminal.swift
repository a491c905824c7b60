// SPDX-License-Identifier: Apache-2.0

import Glibc
import iDownView

/// One of the program's streams, as far as it is a terminal.
struct Terminal {
    private let descriptor: CInt

    static let input = Terminal(descriptor: STDIN_FILENO)
    static let output = Terminal(descriptor: STDOUT_FILENO)
    static let talk = Terminal(descriptor: STDERR_FILENO)

    /// Whether a person looks at it: isatty(3).
    var isTerminal: Bool {
        isatty(descriptor) == 1
    }

    /// Who reads what is written there.
    var reader: LineReader { isTerminal ? .terminal : .program }

    /// Whether the shell has given the terminal to somebody else meanwhile: tcgetpgrp(3).
    var isInBackground: Bool {
        let group = tcgetpgrp(descriptor)
        return group >= 0 && group != getpgrp()
    }

    /// Cells in a line; nil if it is no terminal.
    var width: Int? {
        guard isTerminal else { return nil }
        if let size, size.ws_col > 0 { return Int(size.ws_col) }
        return Self.variable("COLUMNS").flatMap(Int.init) ?? Self.usualWidth
    }

    /// Lines; nil if it is no terminal.
    var height: Int? {
        guard isTerminal else { return nil }
        if let size, size.ws_row > 0 { return Int(size.ws_row) }
        return Self.variable("LINES").flatMap(Int.init) ?? Self.usualHeight
    }

    /// What the terminal says of itself: ioctl_tty(2).
    private var size: winsize? {
        var size = winsize()
        return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 ? size : nil
    }

    /// Colours on a terminal that knows them, unless the user wants none: no-color.org.
    var style: Style {
        if Self.variable("NO_COLOR")?.isEmpty == false { return .plain }
        if let force = Self.variable("CLICOLOR_FORCE"), !force.isEmpty, force != "0" {
            return Style(isColored: true)
        }
        return Style(isColored: isTerminal && canMove)
    }

    /// Whether it understands escape sequences.
    var canMove: Bool {
        isTerminal && !["dumb", "", nil].contains(Self.variable("TERM"))
    }

    private static let usualWidth = 80
    private static let usualHeight = 24

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
