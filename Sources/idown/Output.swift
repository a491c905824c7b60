// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import iDownView

/// Where the program's words go: data to standard output, talk to standard error.
enum Output {
    /// Writes a line of data.
    static func data(_ line: String) throws {
        try data(lines: [line])
    }

    /// Writes lines of data, all of them at once.
    static func data(lines: [String]) throws {
        guard !lines.isEmpty else { return }
        try write(lines.joined(separator: "\n") + "\n", to: STDOUT_FILENO)
    }

    /// Writes a value as JSON.
    static func json(_ value: some Encodable) throws {
        try data(try JSONText.of(value))
    }

    /// Writes a value as JSON of one line.
    static func jsonLine(_ value: some Encodable) throws {
        try data(try JSONText.line(of: value))
    }

    /// Says something to the person; nothing is to be done if nobody can hear it.
    static func talk(_ line: String) {
        try? write(line + "\n", to: STDERR_FILENO)
    }

    /// Says what was wrong.
    static func complain(_ text: String) {
        talk("idown: \(CellText(text))")
    }

    /// Draws on the terminal that the person looks at.
    static func draw(_ text: String) {
        guard !text.isEmpty else { return }
        try? write(text, to: STDERR_FILENO)
    }

    /// Writes all bytes, write(2).
    ///
    /// libdbus has switched SIGPIPE off: a closed pipe is an error here and ends the program as
    /// quietly as the signal would have.
    private static func write(_ text: String, to descriptor: CInt) throws {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                bytes = bytes.dropFirst(count)
                continue
            }
            switch errno {
            case EINTR: continue
            case EPIPE: throw ExitStatus.closedPipe.exit
            default:
                let reason = String(cString: strerror(errno))
                if descriptor == STDOUT_FILENO { complain("cannot write the output: \(reason)") }
                throw ExitStatus.outputFailed.exit
            }
        }
    }
}
