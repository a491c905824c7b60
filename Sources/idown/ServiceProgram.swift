// SPDX-License-Identifier: Apache-2.0

import Glibc
import Processes
import iDownBus

/// Runs `idownd` to answer questions that need its libraries; no service is started.
enum ServiceProgram {
    /// How long to wait for an answer: longer than the timeouts of a server that it asks.
    private static let patience: Duration = .seconds(90)
    /// The most bytes of an answer, which has a few lines.
    private static let longestAnswer = 64 << 10

    /// Asks the program a question.
    ///
    /// - Parameters:
    ///   - question: The program's only argument.
    ///   - input: The program's standard input, for secrets, because other users can see arguments.
    /// - Returns: The program's output; nil if it is not installed, failed, or took too long.
    static func ask(_ question: String, input: String = "") -> String? {
        path.flatMap { output(of: [$0, question], input: input) }
    }

    /// Runs a program, and returns its output; nil if it failed or took too long.
    static func output(of words: [String], input: String = "") -> String? {
        guard let (inputEnd, questionEnd) = pipe(), let (answerEnd, outputEnd) = pipe() else {
            return nil
        }
        let (child, code) = OtherProgram.start(
            words,
            streams: [
                STDIN_FILENO: .file(inputEnd), STDOUT_FILENO: .file(outputEnd),
                STDERR_FILENO: .null,
            ]
        )
        close(inputEnd)
        close(outputEnd)
        if code == 0 { _ = Descriptor.write(input.utf8, to: questionEnd) }
        close(questionEnd)
        defer { close(answerEnd) }
        guard code == 0 else { return nil }
        let answer =
            TimeLimit.run(atMost: patience) {
                Descriptor.read(answerEnd, atMost: longestAnswer)
            } ?? nil
        // A program that has more to write would wait for ever.
        if answer.map({ $0.count > longestAnswer }) ?? true { kill(child, SIGKILL) }
        guard OtherProgram.end(of: child) == 0, let answer,
            let text = String(validating: answer, as: UTF8.self)
        else { return nil }
        return text.unicodeScalars.last == "\n" ? String(text.unicodeScalars.dropLast()) : text
    }

    /// The program beside this one, else the first in `PATH`, else the one that D-Bus starts, where
    /// packagers put it into a folder of its own; nil if there is none.
    static var path: String? {
        let folders = ProgramPath.ownFolder.map { [$0] } ?? []
        if let found = ProgramPath.find("idownd", in: folders) { return found }
        let named = activation(DesktopFolders())?.program
        return named.flatMap { access($0, X_OK) == 0 ? $0 : nil }
    }

    /// Returns the D-Bus service file in force, and the program that it names; nil if there is none
    /// (D-Bus specification, "Message Bus Starting Services").
    static func activation(_ folders: DesktopFolders) -> (file: String, program: String)? {
        for folder in [folders.dataHome] + folders.dataFolders {
            let file = "\(folder)/dbus-1/services/\(Contract.busName).service"
            guard let text = (try? TextFile.read(file)).flatMap(\.self),
                let line = KeyFile(text).value("Exec", in: "D-BUS Service")
            else { continue }
            let program =
                line.hasPrefix("\"")
                ? line.dropFirst().prefix { $0 != "\"" } : line.prefix { $0 != " " }
            return (file, String(program))
        }
        return nil
    }

    /// Runs another program in the foreground, with this program's streams, and waits for it.
    ///
    /// - Returns: Its exit status; nil where it was not started or ended by a signal.
    static func run(_ words: [String]) -> Int32? {
        // Ignored, because Ctrl-C in an editor is meant for the editor.
        let former = signal(SIGINT, SIG_IGN)
        defer { signal(SIGINT, former) }
        let (child, code) = OtherProgram.start(words)
        guard code == 0 else { return nil }
        let status = OtherProgram.end(of: child)
        // WIFEXITED and WEXITSTATUS: wait(2).
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : nil
    }

    private static func pipe() -> (CInt, CInt)? {
        var ends: [CInt] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else { return nil }
        // Without a copy of the other end the child sees the end of its input.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }
}
