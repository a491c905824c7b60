// SPDX-License-Identifier: Apache-2.0

import Glibc
import Subprocess

/// A program that a test starts, reads, signals and waits for.
///
/// The child is killed by the kernel when the test process dies (`setpriv --pdeathsig`), so a
/// crashed test leaves nothing behind. A test that ends normally stops its child all the same:
/// see ``withChild(_:_:environment:workingDirectory:input:_:)``.
package final class ChildProcess: Sendable {
    /// How a child ended.
    package enum ExitStatus: Hashable, Sendable {
        /// It returned from `main` or called `exit` with this code.
        case exited(Int32)
        /// This signal ended it.
        case signaled(Int32)
    }

    /// Why a child could not be started.
    package enum StartFailure: Error, CustomStringConvertible {
        /// No executable file of this name is in `PATH`, or at this path.
        case programMissing(String)
        /// The system refused to start it.
        case notStarted(String, reason: String)

        package var description: String {
            switch self {
            case .programMissing(let name): "the program \(name) is not installed"
            case .notStarted(let name, let reason): "\(name) did not start: \(reason)"
            }
        }
    }

    /// The process id, valid until ``waitForExit()`` has returned.
    package let processIdentifier: Int32

    private let output: ChildOutput
    private let running: Task<ExitStatus, any Error>

    private init(
        processIdentifier: Int32,
        output: ChildOutput,
        running: Task<ExitStatus, any Error>
    ) {
        self.processIdentifier = processIdentifier
        self.output = output
        self.running = running
    }

    /// Starts a program and returns once it has a process id.
    ///
    /// - Parameters:
    ///   - executable: A name, looked up in `PATH`, or a path with a slash.
    ///   - arguments: What follows the program's own name.
    ///   - environment: The child's whole environment; nil hands on the test's own.
    ///   - workingDirectory: An absolute path; nil keeps the test's own.
    ///   - input: The text on the child's standard input, then its end.
    /// - Returns: The running child; stop it in any case.
    /// - Throws: ``StartFailure``.
    package static func start(
        _ executable: String,
        _ arguments: [String] = [],
        environment: [String: String]? = nil,
        workingDirectory: String? = nil,
        input: String = ""
    ) async throws -> ChildProcess {
        let program = try locate(executable)
        let output = ChildOutput()
        // setpriv and env replace themselves: the process id stays that of the program.
        let prefix = ["--pdeathsig", "KILL", "--"]
        let folder = workingDirectory.map { ["env", "--chdir=\($0)"] } ?? []
        let configuration = Configuration(
            executable: .name("setpriv"),
            arguments: Arguments(prefix + folder + [program] + arguments),
            environment: environment.map(environmentValue) ?? .inherit
        )
        let running = Task {
            defer { output.finish() }
            return try await supervise(configuration, input: input, output: output)
        }
        guard let processIdentifier = await output.started() else {
            switch await running.result {
            case .success: throw StartFailure.notStarted(executable, reason: "it ended at once")
            case .failure(let error): throw StartFailure.notStarted(executable, reason: "\(error)")
            }
        }
        return ChildProcess(
            processIdentifier: processIdentifier,
            output: output,
            running: running
        )
    }

    /// The next line of standard output without its line feed; nil at the end of the output.
    ///
    /// Lines wait without bound until they are asked for. Cancellation answers nil.
    package func nextLine() async -> String? {
        await output.nextLine()
    }

    /// All of standard error that has arrived so far; bytes that are not UTF-8 are repaired.
    package var standardError: String {
        output.standardError
    }

    /// Whether the child's end has been noticed.
    package var hasExited: Bool {
        output.isFinished
    }

    /// Sends a signal, for example `SIGTERM`; does nothing once the child is known to have ended.
    package func send(_ signal: Int32) {
        guard !output.isFinished else { return }
        kill(processIdentifier, signal)
    }

    /// Waits until the child has ended and all its output has been read.
    @discardableResult
    package func waitForExit() async -> ExitStatus {
        // A failure to wait can only mean that the child was killed with its supervisor.
        await (try? running.value) ?? .signaled(SIGKILL)
    }

    /// Ends the child: `SIGTERM`, after `grace` `SIGKILL`; returns when it is gone.
    @discardableResult
    package func stop(grace: Duration = .seconds(3)) async -> ExitStatus {
        send(SIGTERM)
        let deadline = Task {
            try await Task.sleep(for: grace)
            send(SIGKILL)
        }
        defer { deadline.cancel() }
        return await waitForExit()
    }
}

extension ChildProcess {
    /// The path of an executable: itself if it holds a slash, else the first hit in `PATH`.
    ///
    /// Servers are also found where they are not in the `PATH` of an ordinary user.
    package static func locate(_ executable: String) throws(StartFailure) -> String {
        let candidates: [String]
        if executable.contains("/") {
            candidates = [executable]
        } else {
            let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
            let folders = (path + ":/usr/local/sbin:/usr/sbin:/sbin").split(separator: ":")
            candidates = folders.map { "\($0)/\(executable)" }
        }
        guard let found = candidates.first(where: { access($0, X_OK) == 0 }) else {
            throw .programMissing(executable)
        }
        return found
    }

    private static func environmentValue(_ variables: [String: String]) -> Environment {
        .custom(
            Dictionary(
                uniqueKeysWithValues: variables.map { (Environment.Key(stringLiteral: $0), $1) }
            )
        )
    }

    private static func supervise(
        _ configuration: Configuration,
        input: String,
        output: ChildOutput
    ) async throws -> ExitStatus {
        let result = try await Subprocess.run(
            configuration,
            input: .string(input),
            output: .sequence,
            error: .sequence
        ) { execution in
            output.start(execution.processIdentifier.value)
            try await withThrowingTaskGroup { group in
                group.addTask {
                    for try await chunk in execution.standardOutput {
                        chunk.withUnsafeBytes { output.append(standardOutput: $0) }
                    }
                }
                group.addTask {
                    for try await chunk in execution.standardError {
                        chunk.withUnsafeBytes { output.append(standardError: $0) }
                    }
                }
                try await group.waitForAll()
            }
        }
        switch result.terminationStatus {
        case .exited(let code): return .exited(code)
        case .signaled(let signal): return .signaled(signal)
        }
    }
}
