// SPDX-License-Identifier: Apache-2.0

import CLinux
package import Glibc

/// Starts other programs and waits for their ends.
package enum OtherProgram {
    /// Where a standard stream of a program leads.
    package enum Stream {
        case null
        case file(CInt)
    }

    /// Starts a program, found in `PATH` unless it is a path: posix_spawnp(3).
    ///
    /// Signals that this program or libdbus ignores are not ignored there, and no file but the
    /// standard streams is inherited.
    ///
    /// - Parameters:
    ///   - words: The program and its arguments.
    ///   - streams: Its standard streams; missing ones are inherited.
    ///   - isDetached: Whether it runs in a session of its own, so that neither the end of this program
    ///     nor Ctrl-C in its terminal ends it.
    /// - Returns: Its process; or the error number, which is 0 otherwise.
    package static func start(
        _ words: [String],
        streams: [CInt: Stream] = [:],
        isDetached: Bool = false
    ) -> (process: pid_t, code: CInt) {
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
        for number in [SIGINT, SIGPIPE] { sigaddset(&signals, number) }
        if isDetached { sigfillset(&signals) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        let flags = Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
        posix_spawnattr_setflags(&attributes, flags | (isDetached ? CLINUX_POSIX_SPAWN_SETSID : 0))
        for (stream, target) in streams {
            switch target {
            case .file(let file): posix_spawn_file_actions_adddup2(&actions, file, stream)
            case .null:
                posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0)
            }
        }
        posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1)
        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process: pid_t = 0
        let code = posix_spawnp(&process, words[0], &actions, &attributes, &arguments, environ)
        return (process, code)
    }

    /// Replaces this program by another one; returns only where that fails: execv(3).
    ///
    /// Signals that this program or libdbus ignores are not ignored there.
    ///
    /// - Parameter words: The path of the program, and its arguments.
    package static func replaceThis(by words: [String]) {
        var signals = sigset_t()
        sigemptyset(&signals)
        pthread_sigmask(SIG_SETMASK, &signals, nil)
        for number in [SIGINT, SIGPIPE] { signal(number, SIG_DFL) }
        var arguments = words.map { strdup($0) } + [nil]
        execv(words[0], &arguments)
        for argument in arguments { free(argument) }
    }

    /// Waits for the end of a program, and returns how it ended: waitpid(2).
    package static func end(of process: pid_t) -> CInt {
        var status: CInt = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
    }
}
