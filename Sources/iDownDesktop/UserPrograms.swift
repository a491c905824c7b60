// SPDX-License-Identifier: Apache-2.0

import DBus
import Dispatch
import Glibc

/// Starts programs for the user: outside of this service's unit, whose restrictions are not theirs
/// and whose end must not be theirs.
///
/// Where there is a systemd of the user it starts them as units of their own; elsewhere they are
/// children in a session of their own.
struct UserPrograms: Sendable {
    /// Why a program did not start, or did not end well.
    enum Failure: Error, CustomStringConvertible {
        case notFound(String)
        case notStarted(String)
        case ended(String)

        var description: String {
            switch self {
            case .notFound(let name): "there is no program \(name)"
            case .notStarted(let reason): "it did not start: \(reason)"
            case .ended(let how): how
            }
        }
    }

    /// No program that is waited for runs longer.
    static let longestRun: Duration = .seconds(3600)

    /// Nil where there is no session bus.
    let connection: Connection?

    /// Starts a program and does not wait for its end.
    ///
    /// - Parameters:
    ///   - command: the program, as a path or a name to be looked up, and its arguments.
    ///   - name: a word for what it does.
    /// - Throws: `notFound`, `notStarted`.
    func start(_ command: [String], named name: String) async throws(Failure) {
        try await run(command, named: name, within: nil)
    }

    /// Runs a program and waits for its end; one that takes longer than ``longestRun`` is ended,
    /// with what it has started.
    ///
    /// - Throws: ``Failure`` also where it ends with anything but 0.
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
            if await manager.isThere {
                return try await manager.run(arguments, named: name, within: limit)
            }
        }
        // Within a unit its restrictions would be inherited.
        guard getenv("INVOCATION_ID") == nil || !isUnit else {
            throw .notStarted("systemd is not on the bus")
        }
        let child = try ChildProgram(arguments)
        if let limit {
            try await child.end(within: limit)
        } else {
            child.forget()
        }
    }

    /// Whether this process was started as a service: `INVOCATION_ID` alone is also inherited from
    /// the terminal that a program was started in.
    private var isUnit: Bool {
        getenv("SYSTEMD_EXEC_PID").flatMap { Int32(String(cString: $0)) } == getpid()
    }

    /// The folder that this program was started from: proc(5).
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

    /// The path of a program: itself if it holds a slash, else the first hit in `PATH`.
    static func locate(_ word: String) -> String? {
        guard !word.contains("/") else {
            return word.hasPrefix("/") && access(word, X_OK) == 0 ? word : nil
        }
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        return path.split(separator: ":").lazy.filter { $0.hasPrefix("/") }
            .map { "\($0)/\(word)" }.first { access($0, X_OK) == 0 }
    }
}
