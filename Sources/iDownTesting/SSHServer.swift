// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A real sshd with SFTP on a free port of 127.0.0.1, run by the test's own user.
///
/// Its host key, and the only key that may sign in, are made for the test.
package final class SSHServer: Sendable {
    /// Why the server did not start.
    package struct StartFailure: Error, CustomStringConvertible {
        package let description: String
    }

    /// The port on 127.0.0.1.
    package let port: UInt16
    /// The name to sign in with: the test's user.
    package let user: String
    /// The path of the private key that may sign in.
    package let key: String

    private let process: ChildProcess
    private let folder: String
    private let reading: Task<Void, Never>

    private init(
        port: UInt16,
        user: String,
        key: String,
        folder: String,
        process: ChildProcess
    ) {
        self.port = port
        self.user = user
        self.key = key
        self.folder = folder
        self.process = process
        // Reads and drops the output, because a full pipe would stop the server.
        reading = Task { while await process.nextLine() != nil {} }
    }

    /// Makes keys and starts a server; returns once it accepts connections.
    ///
    /// - Parameter folder: An empty folder for its files, an absolute path.
    /// - Returns: The server, which the caller must end with ``stop()``.
    /// - Throws: ``ChildProcess/StartFailure``, ``StartFailure``, ``TestFile/Failure``.
    package static func start(in folder: String) async throws -> SSHServer {
        for name in ["host", "user", "other"] {
            let made = try await ChildProcess.run(
                "ssh-keygen",
                ["-q", "-t", "ed25519", "-N", "", "-f", "\(folder)/\(name)"]
            )
            guard made.succeeded else { throw StartFailure(description: made.standardError) }
        }
        // An sshd started by root needs this folder, which the system normally makes at boot.
        if geteuid() == 0 { mkdir("/run/sshd", 0o755) }
        guard let name = getpwuid(geteuid())?.pointee.pw_name.map({ String(cString: $0) }) else {
            throw StartFailure(description: "the test's user has no name")
        }
        var said = ""
        for _ in 1...3 {
            let port = try FreePort.find()
            try TestFile.write(configuration(folder, port: port), to: folder + "/config")
            let process = try await ChildProcess.start(
                "/bin/sh",
                ["-c", "exec /usr/sbin/sshd -D -e -f \"$0\" 2>&1", folder + "/config"]
            )
            while let line = await process.nextLine() {
                if line.contains("Server listening on") {
                    return SSHServer(
                        port: port,
                        user: name,
                        key: folder + "/user",
                        folder: folder,
                        process: process
                    )
                }
                said += line + "\n"
            }
            await process.waitForExit()
        }
        throw StartFailure(description: "sshd: \(said)")
    }

    private static func configuration(_ folder: String, port: UInt16) -> String {
        """
        ListenAddress 127.0.0.1:\(port)
        HostKey \(folder)/host
        AuthorizedKeysFile \(folder)/user.pub
        PidFile none
        StrictModes no
        UsePAM no
        PasswordAuthentication no
        PermitRootLogin yes
        Subsystem sftp internal-sftp
        LogLevel INFO

        """
    }

    /// Returns the URL of a file, given its absolute path, with the test's user name.
    package func url(_ path: String, port other: UInt16? = nil) -> String {
        "sftp://\(user)@127.0.0.1:\(other ?? port)\(path)"
    }

    /// Returns a line for known_hosts(5) with the server's key or with a wrong one.
    ///
    /// - Parameters:
    ///   - other: The port that clients connect to; nil for the server's own.
    ///   - isRight: Whether the key is the server's.
    /// - Returns: The line.
    /// - Throws: ``TestFile/Failure``.
    package func knownHost(at other: UInt16? = nil, isRight: Bool = true) throws -> String {
        let text = try TestFile.text(of: "\(folder)/\(isRight ? "host" : "other").pub")
        let key = text.split(separator: " ").prefix(2).joined(separator: " ")
        return "[127.0.0.1]:\(other ?? port) \(key)\n"
    }

    /// Ends the server and cuts its connections; further calls do nothing.
    package func stop() async {
        await process.stop()
        await reading.value
    }
}

/// Runs `body` with an SSH server of its own and ends the server afterwards, even if `body` throws;
/// the parameter is that of ``SSHServer/start(in:)``.
package func withSSHServer<Value>(
    in folder: String,
    _ body: (SSHServer) async throws -> Value
) async throws -> Value {
    let server = try await SSHServer.start(in: folder)
    do {
        let value = try await body(server)
        await server.stop()
        return value
    } catch {
        await server.stop()
        throw error
    }
}
