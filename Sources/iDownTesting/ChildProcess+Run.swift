// SPDX-License-Identifier: Apache-2.0

extension ChildProcess {
    /// The result of a child that ran to its end.
    package struct Completed: Sendable {
        /// How it ended.
        package let status: ExitStatus
        /// All of standard output: lines with line feeds between them and none at the end.
        package let standardOutput: String
        /// All of standard error.
        package let standardError: String

        /// Whether it exited with 0.
        package var succeeded: Bool {
            status == .exited(0)
        }
    }

    /// Runs a program to its end; the parameters are those of
    /// ``start(_:_:environment:workingDirectory:input:)``.
    package static func run(
        _ executable: String,
        _ arguments: [String] = [],
        environment: [String: String]? = nil,
        workingDirectory: String? = nil,
        input: String = ""
    ) async throws -> Completed {
        let child = try await start(
            executable,
            arguments,
            environment: environment,
            workingDirectory: workingDirectory,
            input: input
        )
        var lines: [String] = []
        while let line = await child.nextLine() {
            lines.append(line)
        }
        return Completed(
            status: await child.waitForExit(),
            standardOutput: lines.joined(separator: "\n"),
            standardError: child.standardError
        )
    }
}

/// Starts a program, runs `body` meanwhile and stops the program afterwards, even if `body` throws.
package func withChild<Value>(
    _ executable: String,
    _ arguments: [String] = [],
    environment: [String: String]? = nil,
    input: String = "",
    _ body: (ChildProcess) async throws -> Value
) async throws -> Value {
    let child = try await ChildProcess.start(
        executable,
        arguments,
        environment: environment,
        input: input
    )
    do {
        let value = try await body(child)
        await child.stop()
        return value
    } catch {
        await child.stop()
        throw error
    }
}
