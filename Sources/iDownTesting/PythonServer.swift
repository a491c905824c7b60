// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A server in Python on a free port of 127.0.0.1, which can pause in the middle of what it sends.
///
/// Its script gets the arguments, the path `hold` and the number of bytes after which it waits while
/// a file is there. It prints its port first, and logs each request to `hold.port.log` before it
/// answers.
struct PythonServer: Sendable {
    /// Why the server did not start.
    struct StartFailure: Error, CustomStringConvertible {
        let description: String
    }

    let port: UInt16
    private let process: ChildProcess
    private let hold: String

    /// Starts a script, and returns once it accepts connections.
    static func start(
        _ script: String,
        _ arguments: [String],
        hold: String,
        holdAfter: Int64?
    ) async throws -> PythonServer {
        if holdAfter != nil { try TestFile.write("", to: hold) }
        let process = try await ChildProcess.start(
            "/usr/bin/python3",
            ["-c", script] + arguments + [hold, "\(holdAfter ?? 0)"]
        )
        guard let line = await process.nextLine(), let port = UInt16(line) else {
            await process.waitForExit()
            throw StartFailure(description: process.standardError)
        }
        return PythonServer(port: port, process: process, hold: hold)
    }

    private var logPath: String { "\(hold).\(port).log" }

    /// The requests so far; every answered one is among them.
    var requests: [String] {
        guard let text = try? TestFile.text(of: logPath) else { return [] }
        return text.split(separator: "\n").map(String.init)
    }

    /// Continues all that is paused, and pauses no more.
    func letGo() { unlink(hold) }

    /// Ends the server and cuts its connections; further calls do nothing.
    func stop() async {
        await process.stop()
        letGo()
        unlink(logPath)
    }
}
