// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc

/// Asks the person at the terminal, or takes a line of standard input where nobody is there.
enum Prompt {
    /// Longer ones are no names and no passwords.
    private static let longest = 4096

    /// Asks for a line that may be seen.
    static func line(_ question: String) throws -> String {
        guard isatty(STDIN_FILENO) == 1 else { return try readLine(STDIN_FILENO) }
        return try onTerminal(question, hiding: false)
    }

    /// Asks for a line that nobody may see.
    static func secret(_ question: String) throws -> String {
        guard isatty(STDIN_FILENO) == 1 else { return try readLine(STDIN_FILENO) }
        return try onTerminal(question, hiding: true)
    }

    /// The terminal itself, wherever the streams lead: tty(4).
    private static func onTerminal(_ question: String, hiding: Bool) throws -> String {
        let terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else { throw ValidationError("there is no terminal to ask on") }
        defer { close(terminal) }
        var before = termios()
        guard tcgetattr(terminal, &before) == 0 else {
            throw ValidationError("the terminal does not answer")
        }
        if hiding {
            var quiet = before
            // Without signals too: one that ended the command would leave the terminal mute.
            quiet.c_lflag &= ~tcflag_t(ECHO | ISIG)
            guard tcsetattr(terminal, TCSAFLUSH, &quiet) == 0 else {
                throw ValidationError("the terminal does not hide what is typed")
            }
        }
        defer {
            if hiding {
                tcsetattr(terminal, TCSAFLUSH, &before)
                write("\n", to: terminal)
            }
        }
        write(question, to: terminal)
        let answer = try readLine(terminal)
        // What Ctrl-C types where it is no signal.
        guard !answer.utf8.contains(3) else { throw ExitStatus.interrupted.exit }
        return answer
    }

    private static func write(_ text: String, to terminal: CInt) {
        let bytes = Array(text.utf8)
        _ = Glibc.write(terminal, bytes, bytes.count)
    }

    /// Byte by byte, so that what follows stays for the next question: read(2).
    private static func readLine(_ file: CInt) throws -> String {
        var bytes: [UInt8] = []
        while bytes.count <= longest {
            var byte: UInt8 = 0
            let count = read(file, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 || !bytes.isEmpty else {
                throw ValidationError("nothing was given")
            }
            guard count == 1, byte != UInt8(ascii: "\n") else { break }
            bytes.append(byte)
        }
        guard bytes.count <= longest, let text = String(validating: bytes, as: UTF8.self),
            !bytes.contains(0)
        else { throw ValidationError("what was given is no line of text") }
        return text
    }
}
