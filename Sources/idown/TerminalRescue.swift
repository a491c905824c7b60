// SPDX-License-Identifier: Apache-2.0

import CCurses
import Glibc

/// Gives the terminal back when the process crashes in the middle of a screen.
///
/// A signal handler may only call what signal-safety(7) names: write(2) and tcsetattr(3) are among
/// it, ncurses is not.
enum TerminalRescue {
    /// xterm, "Bracketed Paste Mode"; terminals that do not know it pass over it.
    static let pasteOn: StaticString = "\u{1B}[?2004h"
    static let pasteOff: StaticString = "\u{1B}[?2004l"

    /// What is needed then, made while everything is well.
    private struct Kit {
        let modes: UnsafeMutablePointer<termios>
        let bytes: UnsafeMutablePointer<UInt8>
        let count: Int
    }

    /// Pointers that are only ever read.
    ///
    /// Written once, by the first ``arm()``, before the handlers are installed that read it; what
    /// it points to is never written or freed afterwards. So no two threads ever disagree about it.
    nonisolated(unsafe) private static let kit = makeKit()

    /// From now on a crash ends with the terminal as it was; ncurses has to be up.
    static func arm() {
        guard kit.count >= 0 else { return }
        // What a trap of Swift, a failed assertion of C and a wild pointer end with: signal(7).
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
        // The handler is gone already: this one ends the process as it would have ended.
        raise(number)
    }

    private static func makeKit() -> Kit {
        let modes = UnsafeMutablePointer<termios>.allocate(capacity: 1)
        modes.initialize(to: termios())
        // ncurses has saved the modes that it found; these are them: curs_kernel(3).
        _ = reset_shell_mode()
        tcgetattr(STDIN_FILENO, modes)
        _ = reset_prog_mode()
        var text = pasteOff.withUTF8Buffer { Array($0) }
        // The mouse off, the cursor back, colours off, keys and screen as they were: terminfo(5).
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
