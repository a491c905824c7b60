// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc

/// Asks the user at the terminal; reads a line of standard input if that is not a terminal.
enum Prompt {
    /// Longer lines are neither names nor passwords.
    private static let longest = 4096

    /// Asks for a line, which is shown while it is typed.
    static func line(_ question: String) throws -> String {
        try given(answer(question, hiding: false))
    }

    /// Asks for a line, which is not shown while it is typed.
    static func secret(_ question: String) throws -> String {
        try given(answer(question, hiding: true))
    }

    /// Asks whether to go on; Ctrl-D is a no.
    ///
    /// - Parameters:
    ///   - question: Ends with the choices, such as `[y/N]`.
    ///   - usual: The answer that Enter alone gives.
    /// - Returns: Whether the answer was yes.
    /// - Throws: `ValidationError` if there is no terminal or input; `ExitCode` after Ctrl-C.
    static func agrees(_ question: String, usual: Bool) throws -> Bool {
        guard let answer = try answer(question, hiding: false)?.lowercased() else {
            Output.talk("")
            return false
        }
        return answer.isEmpty ? usual : ["y", "yes"].contains(answer)
    }

    private static func given(_ answer: String?) throws -> String {
        guard let answer else { throw ValidationError("nothing was given") }
        return answer
    }

    /// Nil where the input ends before a line begins.
    private static func answer(_ question: String, hiding: Bool) throws -> String? {
        guard isatty(STDIN_FILENO) == 1 else { return try readLine(STDIN_FILENO) }
        return try onTerminal(question, hiding: hiding)
    }

    /// Asks on the terminal itself, even if the streams are redirected: tty(4).
    private static func onTerminal(_ question: String, hiding: Bool) throws -> String? {
        let terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else { throw ValidationError("there is no terminal to ask on") }
        defer { close(terminal) }
        var before = termios()
        guard tcgetattr(terminal, &before) == 0 else {
            throw ValidationError("the terminal does not answer")
        }
        guard hiding else {
            write(question, to: terminal)
            return try readLine(terminal)
        }
        let formerActions = giveBack(before)
        defer { takeUp(formerActions) }
        let interrupt = interruptSign(of: before)
        var quiet = before
        // Keys send no signals meanwhile, because a signal that ended the command would leave the
        // terminal without echo. Instead Ctrl-C ends the line like Enter, and is read as a byte.
        quiet.c_lflag &= ~tcflag_t(ECHO | ISIG)
        withUnsafeMutableBytes(of: &quiet.c_cc) { $0[Int(VEOL)] = interrupt }
        guard tcsetattr(terminal, TCSAFLUSH, &quiet) == 0 else {
            throw ValidationError("the terminal does not hide what is typed")
        }
        defer {
            tcsetattr(terminal, TCSAFLUSH, &before)
            write("\n", to: terminal)
        }
        write(question, to: terminal)
        return try readLine(terminal, interrupt: interrupt)
    }

    /// Returns the byte of the interrupt key: the terminal's own, or that of Ctrl-C if it has none.
    private static func interruptSign(of modes: termios) -> UInt8 {
        let sign = withUnsafeBytes(of: modes.c_cc) { $0[Int(VINTR)] }
        return sign == 0 ? 3 : sign
    }

    private static func write(_ text: String, to terminal: CInt) {
        let bytes = Array(text.utf8)
        _ = Glibc.write(terminal, bytes, bytes.count)
    }

    /// Reads a line byte by byte, so that later lines are left for the next question: read(2).
    private static func readLine(_ file: CInt, interrupt: UInt8? = nil) throws -> String? {
        var bytes: [UInt8] = []
        while bytes.count <= longest {
            var byte: UInt8 = 0
            let count = read(file, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 || !bytes.isEmpty else { return nil }
            guard count == 1, byte != UInt8(ascii: "\n") else { break }
            guard byte != interrupt else { throw ExitStatus.interrupted.exit }
            bytes.append(byte)
        }
        guard bytes.count <= longest, let text = String(validating: bytes, as: UTF8.self),
            !bytes.contains(0)
        else { throw ValidationError("the input is not a line of text in UTF-8") }
        return text
    }
}

// Signals that end the command in the middle of a question.
extension Prompt {
    /// The modes to give back; written before the handlers are installed that read them.
    nonisolated(unsafe) private static let modes = makeModes()

    private static func makeModes() -> UnsafeMutablePointer<termios> {
        let modes = UnsafeMutablePointer<termios>.allocate(capacity: 1)
        modes.initialize(to: termios())
        return modes
    }

    private static let ends = [SIGTERM, SIGHUP]

    /// From now on these signals end the process with the terminal's modes as they were; an ignored
    /// one stays ignored.
    ///
    /// - Returns: The former actions of the signals.
    private static func giveBack(_ before: termios) -> [sigaction] {
        modes.pointee = before
        return ends.map { number in
            var former = sigaction()
            sigaction(number, nil, &former)
            // SIG_IGN, which is a pointer to a function in name only: signal(7).
            let isIgnored = withUnsafeBytes(of: former.__sigaction_handler) {
                $0.load(as: Int.self) == 1
            }
            guard !isIgnored else { return former }
            var action = sigaction()
            // tcsetattr(3) may be called there: signal-safety(7). The handler is gone by then, so
            // that the signal ends the process as it would have ended.
            action.__sigaction_handler.sa_handler = { number in
                tcsetattr(STDIN_FILENO, TCSANOW, Prompt.modes)
                raise(number)
            }
            action.sa_flags = CInt(bitPattern: UInt32(SA_RESETHAND))
            sigaction(number, &action, nil)
            return former
        }
    }

    private static func takeUp(_ actions: [sigaction]) {
        for (number, action) in zip(ends, actions) {
            var action = action
            sigaction(number, &action, nil)
        }
    }
}
