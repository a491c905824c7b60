// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The service's program, which answers what needs its libraries, without being a service.
enum ServiceProgram {
    /// No server that is asked takes longer: its timeouts are shorter.
    private static let patience: Duration = .seconds(90)
    /// Answers are a few lines.
    private static let longestAnswer = 64 << 10

    /// Has the program answer a question, posix_spawn(3).
    ///
    /// - Parameters:
    ///   - question: its one argument.
    ///   - input: what it reads from standard input; never an argument, which everybody can see.
    /// - Returns: what it wrote; nil where there is no such program, or it did not do it.
    static func ask(_ question: String, input: String = "") -> String? {
        guard let path, let (inputEnd, questionEnd) = pipe(), let (answerEnd, outputEnd) = pipe()
        else { return nil }
        let child = start([path, question], input: inputEnd, output: outputEnd)
        close(inputEnd)
        close(outputEnd)
        if child != nil { write(input, to: questionEnd) }
        close(questionEnd)
        defer { close(answerEnd) }
        guard let child else { return nil }
        let answer = read(answerEnd)
        if answer == nil { kill(child, SIGKILL) }
        var status: CInt = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        guard status == 0, let answer, let text = String(validating: answer, as: UTF8.self) else {
            return nil
        }
        return text.unicodeScalars.last == "\n" ? String(text.unicodeScalars.dropLast()) : text
    }

    /// Beside this program, as both are installed; else the first in `PATH`.
    private static var path: String? {
        var folders: [String] = []
        if let own = realpath("/proc/self/exe", nil) {
            defer { free(own) }
            let path = String(cString: own)
            folders.append(path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "")
        }
        let variable = getenv("PATH").map { String(cString: $0) } ?? ""
        folders += variable.split(separator: ":").filter { $0.hasPrefix("/") }.map(String.init)
        return folders.lazy.map { $0 + "/idownd" }.first { access($0, X_OK) == 0 }
    }

    private static func pipe() -> (CInt, CInt)? {
        var ends: [CInt] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else { return nil }
        // The child is to see the end of its input.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    private static func start(_ words: [String], input: CInt, output: CInt) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var child: pid_t = 0
        return posix_spawn(&child, words[0], &actions, nil, &arguments, environ) == 0 ? child : nil
    }

    private static func write(_ text: String, to file: CInt) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }

    /// All until the end, poll(2) and read(2); nil where it does not come.
    private static func read(_ file: CInt) -> [UInt8]? {
        let deadline = ContinuousClock.now + patience
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= longestAnswer {
            let left = deadline - .now
            guard left > .zero else { return nil }
            var wish = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
            guard poll(&wish, 1, CInt(left.components.seconds) * 1_000 + 1) > 0 else {
                if errno == EINTR { continue }
                return nil
            }
            let count = Glibc.read(file, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { return bytes }
            bytes += piece.prefix(count)
        }
        return nil
    }
}
