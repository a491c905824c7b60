// SPDX-License-Identifier: Apache-2.0

import CCurses
import Glibc

/// Restores the terminal when the process crashes while the live list is shown.
///
/// A signal handler may only call the functions of signal-safety(7): write(2) and tcsetattr(3) are
/// among them, those of ncurses are not.
enum TerminalRescue {
    /// xterm, "Bracketed Paste Mode"; other terminals ignore it.
    static let pasteOn: StaticString = "\u{1B}[?2004h"
    static let pasteOff: StaticString = "\u{1B}[?2004l"

    /// The data for the signal handler, made before a crash.
    private struct Kit {
        let modes: UnsafeMutablePointer<termios>
        let bytes: UnsafeMutablePointer<UInt8>
        let count: Int
    }

    /// The data that the handlers read.
    ///
    /// The first ``arm()`` writes it once, before it installs the handlers that read it. The memory
    /// behind its pointers is never written or freed afterwards, so that no threads race for it.
    nonisolated(unsafe) private static let kit = makeKit()

    /// Makes a crash restore the terminal from now on; ncurses has to be started.
    static func arm() {
        guard kit.count >= 0 else { return }
        // The signals of a Swift trap, a failed C assertion and a wild pointer: signal(7).
        for number in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { number in TerminalRescue.rescue(number) }
            action.sa_flags = CInt(bitPattern: UInt32(SA_RESETHAND))
            sigaction(number, &action, nil)
        }
    }

    private static func rescue(_ number: CInt) {
        _ = write(STDOUT_FILENO, kit.bytes, kit.count)
        tcsetattr(STDIN_FILENO, TCSANOW, kit.modes)
        // SA_RESETHAND removed the handler: the signal now ends the process as without it.
        raise(number)
    }

    private static func makeKit() -> Kit {
        let modes = UnsafeMutablePointer<termios>.allocate(capacity: 1)
        modes.initialize(to: termios())
        // Reads the modes that ncurses found and saved: curs_kernel(3).
        _ = reset_shell_mode()
        tcgetattr(STDIN_FILENO, modes)
        _ = reset_prog_mode()
        var text = pasteOff.withUTF8Buffer { Array($0) }
        // Mouse off, cursor on, colours off, keys and screen as before: terminfo(5).
        text += Array("\u{1B}[?1000l".utf8)
        for name in ["cnorm", "sgr0", "rmkx", "rmcup"] {
            guard let capability = ccurses_capability(name) else { continue }
            text += Array(String(cString: capability).utf8)
        }
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: text.count)
        bytes.initialize(from: text, count: text.count)
        return Kit(modes: modes, bytes: bytes, count: text.count)
    }
}
