// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Processes

/// A child process in a session of its own, which inherits no files but standard input, output and
/// error.
struct ChildProgram: Sendable {
    private let process: pid_t
    /// Runs `waitpid`, which blocks until the program ends.
    ///
    /// The queue is serial because a concurrent queue makes Dispatch wake up every second.
    private let queue = DispatchQueue(label: "org.idown.child")

    /// Starts a program, whose output goes to this program's standard error.
    ///
    /// - Parameter arguments: The program's absolute path, followed by its arguments.
    /// - Throws: `notStarted`.
    init(_ arguments: [String]) throws(ProgramLauncher.Failure) {
        let (process, code) = OtherProgram.start(
            arguments,
            streams: [STDIN_FILENO: .null, STDOUT_FILENO: .file(STDERR_FILENO)],
            isDetached: true
        )
        guard code == 0 else { throw .notStarted(String(cString: strerror(code))) }
        self.process = process
    }

    /// Waits until the program has ended; after `limit` its process group gets SIGTERM.
    ///
    /// - Throws: `ended` if its exit status is not 0, or a signal ended it.
    func waitForEnd(within limit: Duration) async throws(ProgramLauncher.Failure) {
        let process = process
        let clock = Task {
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            // The process leads its session and therefore its process group: setsid(2).
            kill(-process, SIGTERM)
        }
        let status = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: OtherProgram.end(of: process)) }
        }
        clock.cancel()
        guard status != 0 else { return }
        let code = (status >> 8) & 0xFF
        throw .ended(
            status & 0x7F == 0
                ? "the program ended with exit status \(code)"
                : "signal \(status & 0x7F) ended the program"
        )
    }

    /// Collects the exit status when the program ends, so that no zombie process stays behind.
    func reapInBackground() {
        let process = process
        queue.async { _ = OtherProgram.end(of: process) }
    }
}
