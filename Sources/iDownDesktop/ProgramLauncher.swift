// SPDX-License-Identifier: Apache-2.0

import DBus
import Dispatch
import Glibc

/// Starts the user's programs outside of this service's systemd unit, so that the unit's
/// restrictions do not apply to them and they go on when the service ends.
///
/// With a systemd user manager they run as units of their own; otherwise as child processes in a
/// session of their own.
struct ProgramLauncher: Sendable {
    /// Why a program did not start, or failed.
    enum Failure: Error, CustomStringConvertible {
        case notFound(String)
        case notStarted(String)
        case ended(String)

        var description: String {
            switch self {
            case .notFound(let name): "program not found: \(name)"
            case .notStarted(let reason): "the program did not start: \(reason)"
            case .ended(let how): how
            }
        }
    }

    /// How long a program that is waited for may run.
    static let longestRun: Duration = .seconds(3600)

    /// The session bus; nil where there is none.
    let connection: Connection?

    /// Starts a program and does not wait for its end.
    ///
    /// - Parameters:
    ///   - command: The program, as an absolute path or a name to look up in `PATH`, followed by
    ///     its arguments.
    ///   - name: A word for its purpose, which becomes part of the unit's name.
    /// - Throws: `notFound`, `notStarted`.
    func start(_ command: [String], named name: String) async throws(Failure) {
        try await run(command, named: name, within: nil)
    }

    /// Runs a program and waits for its end; after ``longestRun`` it is ended together with the
    /// processes that it has started.
    ///
    /// - Throws: ``Failure``, also if the exit status is not 0.
    func run(_ command: [String], named name: String) async throws(Failure) {
        try await run(command, named: name, within: Self.longestRun)
    }

    private func run(
        _ command: [String],
        named name: String,
        within limit: Duration?
    ) async throws(Failure) {
        guard let word = command.first, let program = Self.locate(word) else {
            throw .notFound(command.first ?? "")
        }
        let arguments = [program] + command.dropFirst()
        if let connection {
            let manager = UserManager(connection)
            if await manager.isRunning {
                return try await manager.run(arguments, named: name, within: limit)
            }
        }
        // A child process would inherit the restrictions of this service's unit.
        guard getenv("INVOCATION_ID") == nil || !isUnit else {
            throw .notStarted("the systemd user manager is not on the session bus")
        }
        let child = try ChildProgram(arguments)
        if let limit {
            try await child.waitForEnd(within: limit)
        } else {
            child.reapInBackground()
        }
    }

    /// Whether systemd started this process as a service.
    ///
    /// `INVOCATION_ID` alone does not tell: a program started from a terminal inherits it.
    private var isUnit: Bool {
        getenv("SYSTEMD_EXEC_PID").flatMap { Int32(String(cString: $0)) } == getpid()
    }

    /// The folder that this program's executable is in: proc(5).
    static var ownFolder: String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let count = readlink("/proc/self/exe", start, buffer.count)
            guard count > 0 else { return nil }
            let path = String(
                decoding: UnsafeRawBufferPointer(buffer).prefix(count),
                as: UTF8.self
            )
            return path.lastIndex(of: "/").map { String(path[..<$0]) }
        }
    }

    /// Returns the path of an executable program: the absolute path itself, or the first match in
    /// `PATH`; nil where there is none.
    static func locate(_ word: String) -> String? {
        guard !word.contains("/") else {
            return word.hasPrefix("/") && access(word, X_OK) == 0 ? word : nil
        }
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        return path.split(separator: ":").lazy.filter { $0.hasPrefix("/") }
            .map { "\($0)/\(word)" }.first { access($0, X_OK) == 0 }
    }
}
