// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A real sshd with SFTP on a free port of 127.0.0.1, run by the test's own user.
///
/// Its host keys, and the only key that may sign in, are made for the test.
package final class SSHServer: Sendable {
    /// The kinds of host keys.
    package enum KeyKind: String, CaseIterable, Sendable {
        case ed25519, ecdsa
    }

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
    /// - Parameters:
    ///   - folder: An empty folder for its files, an absolute path.
    ///   - kinds: The kinds of host keys that it has.
    /// - Returns: The server, which the caller must end with ``stop()``.
    /// - Throws: ``ChildProcess/StartFailure``, ``StartFailure``, ``TestFile/Failure``.
    package static func start(
        in folder: String,
        offering kinds: [KeyKind] = [.ed25519]
    ) async throws -> SSHServer {
        let hostKeys = KeyKind.allCases.flatMap { [("host-\($0)", $0), ("other-\($0)", $0)] }
        for (name, kind) in hostKeys + [("user", .ed25519)] {
            let made = try await ChildProcess.run(
                "ssh-keygen",
                ["-q", "-t", kind.rawValue, "-N", "", "-f", "\(folder)/\(name)"]
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
            try TestFile.write(configuration(folder, port, kinds), to: folder + "/config")
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

    private static func configuration(
        _ folder: String,
        _ port: UInt16,
        _ kinds: [KeyKind]
    ) -> String {
        """
        ListenAddress 127.0.0.1:\(port)
        \(kinds.map { "HostKey \(folder)/host-\($0)" }.joined(separator: "\n"))
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

    /// Returns a line for known_hosts(5) with the server's key of a kind or with a wrong one.
    ///
    /// - Parameters:
    ///   - kind: The kind of the key, also one that the server does not offer.
    ///   - other: The port that clients connect to; nil for the server's own.
    ///   - isRight: Whether the key is the server's.
    /// - Returns: The line.
    /// - Throws: ``TestFile/Failure``.
    package func knownHost(
        _ kind: KeyKind = .ed25519,
        at other: UInt16? = nil,
        isRight: Bool = true
    ) throws -> String {
        let name = isRight ? "host" : "other"
        let text = try TestFile.text(of: "\(folder)/\(name)-\(kind).pub")
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
/// the parameters are those of ``SSHServer/start(in:offering:)``.
package func withSSHServer<Value>(
    in folder: String,
    offering kinds: [SSHServer.KeyKind] = [.ed25519],
    _ body: (SSHServer) async throws -> Value
) async throws -> Value {
    let server = try await SSHServer.start(in: folder, offering: kinds)
    do {
        let value = try await body(server)
        await server.stop()
        return value
    } catch {
        await server.stop()
        throw error
    }
}
