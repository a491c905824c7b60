// SPDX-License-Identifier: Apache-2.0

import Glibc
import Subprocess

/// A program that a test starts, reads, signals and waits for.
///
/// The kernel kills the child when the test process dies (`setpriv --pdeathsig`), so a crashed test
/// leaves no process behind. A test that ends normally must still stop its child: see
/// ``withChild(_:_:environment:input:_:)``.
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
    ///   - arguments: The arguments without the program's own name.
    ///   - environment: The child's whole environment; nil passes on the test's own.
    ///   - workingDirectory: An absolute path; nil keeps the test's own.
    ///   - input: The whole text of the child's standard input.
    /// - Returns: The running child, which the caller must stop.
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
        // setpriv and env replace themselves with the program, so its process id is the child's.
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

    /// Returns the next line of standard output without its line feed; nil at the end of the
    /// output.
    ///
    /// Any number of lines is kept until it is read. A cancelled call returns nil.
    package func nextLine() async -> String? {
        await output.nextLine()
    }

    /// All of standard error so far; U+FFFD replaces bytes that are not UTF-8.
    package var standardError: String {
        output.standardError
    }

    /// Whether the child is known to have ended.
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
        // Waiting fails only if the child was killed together with its supervisor.
        await (try? running.value) ?? .signaled(SIGKILL)
    }

    /// Ends the child with `SIGTERM`, after 3 seconds with `SIGKILL`; returns once it has ended.
    @discardableResult
    package func stop() async -> ExitStatus {
        send(SIGTERM)
        let deadline = Task {
            try await Task.sleep(for: .seconds(3))
            send(SIGKILL)
        }
        defer { deadline.cancel() }
        return await waitForExit()
    }
}

extension ChildProcess {
    /// Returns the path of an executable: the name itself if it has a slash, else the first match
    /// in `PATH`.
    ///
    /// It also looks in the folders of servers, which an ordinary user's `PATH` lacks.
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
