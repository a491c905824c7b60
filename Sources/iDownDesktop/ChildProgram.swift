// SPDX-License-Identifier: Apache-2.0

import CLinux
import Dispatch
import Glibc

/// A child process in a session of its own, which inherits no files but standard input, output and
/// error.
struct ChildProgram: Sendable {
    private let process: pid_t
    /// Runs `waitpid`, which blocks until the program ends.
    ///
    /// The queue is serial because a concurrent queue makes Dispatch wake up every second.
    private let queue = DispatchQueue(label: "org.idown.child")

    /// Starts a program: posix_spawn(3).
    ///
    /// - Parameter arguments: The program's absolute path, followed by its arguments.
    /// - Throws: `notStarted`.
    init(_ arguments: [String]) throws(ProgramLauncher.Failure) {
        var attributes = posix_spawnattr_t()
        var actions = posix_spawn_file_actions_t()
        posix_spawnattr_init(&attributes)
        posix_spawn_file_actions_init(&actions)
        defer {
            posix_spawnattr_destroy(&attributes)
            posix_spawn_file_actions_destroy(&actions)
        }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        let flags = Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
        posix_spawnattr_setflags(&attributes, flags | CLINUX_POSIX_SPAWN_SETSID)
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, 2, 1)
        posix_spawn_file_actions_addclosefrom_np(&actions, 3)
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
        words.append(nil)
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, arguments[0], &actions, &attributes, words, environ)
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
            queue.async { continuation.resume(returning: Self.wait(for: process)) }
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
        queue.async { _ = Self.wait(for: process) }
    }

    /// Blocks until the process has ended, and returns its wait status: waitpid(2).
    private static func wait(for process: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { return 0 }
        }
        return status
    }
}
