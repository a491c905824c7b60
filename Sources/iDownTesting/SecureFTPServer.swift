// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A real FTPS server, vsftpd with implicit TLS, on a free port of 127.0.0.1; it serves a folder
/// without a login.
package final class SecureFTPServer: Sendable {
    /// Why the server did not start.
    package struct StartFailure: Error, CustomStringConvertible {
        package let description: String
    }

    /// The port on 127.0.0.1.
    package let port: UInt16
    private let process: ChildProcess

    private init(port: UInt16, process: ChildProcess) {
        self.port = port
        self.process = process
    }

    /// Starts a server and returns once it accepts connections.
    ///
    /// - Parameters:
    ///   - root: The folder to serve, an absolute path.
    ///   - certificates: The server's certificate.
    ///   - folder: An empty folder for its files, an absolute path.
    ///   - bytesPerSecond: How fast each file is sent; nil for as fast as possible.
    /// - Returns: The server, which the caller must end with ``stop()``.
    /// - Throws: ``ChildProcess/StartFailure``, ``StartFailure``, ``TestFile/Failure``.
    package static func start(
        root: String,
        certificates: TestCertificates,
        in folder: String,
        bytesPerSecond: Int? = nil
    ) async throws -> SecureFTPServer {
        guard let user = getpwuid(geteuid())?.pointee.pw_name.map({ String(cString: $0) }) else {
            throw StartFailure(description: "the test's user has no name")
        }
        mkdir(folder + "/nothing", 0o555)
        let program = "/usr/sbin/vsftpd"
        for _ in 1...3 {
            let port = try FreePort.find()
            try TestFile.write(
                """
                listen=YES
                listen_address=127.0.0.1
                listen_port=\(port)
                background=NO
                anonymous_enable=YES
                local_enable=NO
                no_anon_password=YES
                anon_root=\(root)
                anon_max_rate=\(bytesPerSecond ?? 0)
                ftp_username=\(user)
                run_as_launching_user=YES
                secure_chroot_dir=\(folder)/nothing
                seccomp_sandbox=NO
                xferlog_enable=NO
                ssl_enable=YES
                implicit_ssl=YES
                allow_anon_ssl=YES
                force_anon_data_ssl=YES
                force_anon_logins_ssl=YES
                ssl_ciphers=HIGH
                rsa_cert_file=\(certificates.server)

                """,
                to: folder + "/vsftpd.conf"
            )
            let process = try await ChildProcess.start(program, [folder + "/vsftpd.conf"])
            // vsftpd prints nothing when it is ready, so its port is tried.
            if try await accepts(port, process) {
                return SecureFTPServer(port: port, process: process)
            }
            await process.stop()
        }
        throw StartFailure(description: "vsftpd takes no connections")
    }

    /// The URL of a file in the folder, for example `url("/file")`.
    package func url(_ path: String) -> String { "ftps://127.0.0.1:\(port)\(path)" }

    /// Ends the server and cuts its connections; further calls do nothing.
    package func stop() async { await process.stop() }

    private static func accepts(_ port: UInt16, _ process: ChildProcess) async throws -> Bool {
        for _ in 1...1500 where !process.hasExited {
            let connection = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            guard connection >= 0 else { return false }
            defer { close(connection) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
            let isThere = withUnsafeBytes(of: &address) { bytes in
                bytes.withMemoryRebound(to: sockaddr.self) { pointer in
                    connect(connection, pointer.baseAddress, socklen_t(bytes.count)) == 0
                }
            }
            if isThere { return true }
            try await Task.sleep(for: .milliseconds(20))
        }
        return false
    }
}

/// Runs `body` with an FTPS server of its own and ends the server afterwards, even if `body`
/// throws; the parameters are those of
/// ``SecureFTPServer/start(root:certificates:in:bytesPerSecond:)``.
package func withSecureFTPServer<Value>(
    root: String,
    certificates: TestCertificates,
    in folder: String,
    bytesPerSecond: Int? = nil,
    _ body: (SecureFTPServer) async throws -> Value
) async throws -> Value {
    let server = try await SecureFTPServer.start(
        root: root,
        certificates: certificates,
        in: folder,
        bytesPerSecond: bytesPerSecond
    )
    do {
        let value = try await body(server)
        await server.stop()
        return value
    } catch {
        await server.stop()
        throw error
    }
}
