// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import iDownView

/// Writes data to standard output, and messages to standard error.
enum Output {
    /// Writes a line of data.
    static func data(_ line: String) throws {
        try data(lines: [line])
    }

    /// Writes all lines of data together.
    static func data(lines: [String]) throws {
        guard !lines.isEmpty else { return }
        try write(lines.joined(separator: "\n") + "\n")
    }

    /// Writes data that has its own line ends.
    static func write(_ text: String) throws {
        try write(text, to: STDOUT_FILENO)
    }

    /// Writes a value as indented JSON.
    static func json(_ value: some Encodable) throws {
        try data(try JSONText.of(value))
    }

    /// Writes a value as JSON on one line.
    static func jsonLine(_ value: some Encodable) throws {
        try data(try JSONText.line(of: value))
    }

    /// Writes a message for the user; an error is ignored, as there is no other place to tell it.
    static func talk(_ line: String) {
        try? write(line + "\n", to: STDERR_FILENO)
    }

    /// Writes an error message for the user, with the program's name before it.
    static func complain(_ text: String) {
        talk("idown: \(CellText(text))")
    }

    /// Changes or reads files of the user's desktop; prints the error and ends the command with an
    /// exit code if that fails.
    static func reportingErrors<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let failure as TextFile.Failure {
            complain(failure.description)
        } catch let refusal as WebHandler.Refusal {
            complain(refusal.description)
        }
        throw ExitStatus.failed.exit
    }

    /// Writes text and control sequences to the user's terminal.
    static func draw(_ text: String) {
        guard !text.isEmpty else { return }
        try? write(text, to: STDERR_FILENO)
    }

    /// Writes a whole text.
    ///
    /// libdbus ignores SIGPIPE for the process, so a closed pipe is an error here. It ends the
    /// command without a message, as the signal would have.
    private static func write(_ text: String, to descriptor: CInt) throws {
        guard !Descriptor.write(text.utf8, to: descriptor) else { return }
        guard errno != EPIPE else { throw ExitStatus.closedPipe.exit }
        let reason = String(cString: strerror(errno))
        if descriptor == STDOUT_FILENO { complain("cannot write the output: \(reason)") }
        throw ExitStatus.outputFailed.exit
    }
}
