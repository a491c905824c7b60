// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A real nginx on a free port of 127.0.0.1, which serves a folder.
///
/// It is a single process, so that no process stays behind when a test dies.
package final class Nginx: Sendable {
    /// Why the server did not start.
    package struct StartFailure: Error, CustomStringConvertible {
        package let description: String
    }

    /// The port on 127.0.0.1.
    package let port: UInt16

    private let process: ChildProcess
    private let folder: String

    private init(port: UInt16, process: ChildProcess, folder: String) {
        self.port = port
        self.process = process
        self.folder = folder
    }

    /// The URL of a file in the folder, for example `url("/file")`.
    package func url(_ target: String = "/") -> String { "http://127.0.0.1:\(port)\(target)" }

    /// Starts nginx and returns once it accepts connections.
    ///
    /// - Parameters:
    ///   - root: The folder to serve, an absolute path.
    ///   - locationDirectives: Lines for `location /`, for example `limit_rate 2m;`.
    ///   - extraConfig: Lines for the `server` block, for example further locations.
    ///   - httpDirectives: Lines for the `http` block, for example `limit_conn_zone`.
    /// - Returns: The server, which the caller must end with ``stop()``.
    /// - Throws: ``ChildProcess/StartFailure`` or ``StartFailure``.
    package static func start(
        root: String,
        locationDirectives: String = "",
        extraConfig: String = "",
        httpDirectives: String = ""
    ) async throws -> Nginx {
        var lastOutput = ""
        // Another program may take the free port before nginx does.
        for _ in 1...3 {
            let folder = makeTemporaryFolder(in: "/tmp")
            do {
                let port = try FreePort.find()
                let configuration = configurationText(
                    folder: folder,
                    port: port,
                    root: root,
                    locationDirectives: locationDirectives,
                    extraConfig: extraConfig,
                    httpDirectives: httpDirectives
                )
                try TestFile.write(configuration, to: folder + "/nginx.conf")
                let process = try await ChildProcess.start(
                    "nginx",
                    ["-e", "/dev/stdout", "-p", folder, "-c", folder + "/nginx.conf"]
                )
                // nginx logs its version first, after it has opened the port.
                while let line = await process.nextLine() {
                    if line.contains(" nginx/") {
                        return Nginx(port: port, process: process, folder: folder)
                    }
                    lastOutput += line + "\n"
                }
                await process.waitForExit()
                lastOutput += process.standardError
            } catch {
                removeTree(folder)
                throw error
            }
            removeTree(folder)
        }
        throw StartFailure(description: "nginx: \(lastOutput)")
    }

    /// Ends the server and cuts its connections; further calls do nothing.
    package func stop() async {
        await process.stop()
        removeTree(folder)
    }
}

extension Nginx {
    private static func configurationText(
        folder: String,
        port: UInt16,
        root: String,
        locationDirectives: String,
        extraConfig: String,
        httpDirectives: String
    ) -> String {
        let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        let temporaryPaths = kinds.map { "\($0)_temp_path \(folder);" }.joined(separator: " ")
        // Otherwise an nginx started by root would switch to a user that cannot read the test's
        // files.
        let user = geteuid() == 0 ? "user root;" : ""
        return """
            daemon off; master_process off; \(user)
            pid \(folder)/nginx.pid; error_log /dev/stdout notice;
            events { worker_connections 4096; }
            http {
              access_log off; sendfile on; tcp_nopush on; default_type application/octet-stream;
              keepalive_requests 1000000; \(temporaryPaths)
              \(httpDirectives)
              server {
                listen 127.0.0.1:\(port) backlog=4096;
                location / { root "\(root)"; \(locationDirectives) }
                \(extraConfig)
              }
            }

            """
    }
}

/// Runs `body` with an nginx of its own and ends nginx afterwards, even if `body` throws; the
/// parameters are those of ``Nginx/start(root:locationDirectives:extraConfig:httpDirectives:)``.
package func withNginx<Value>(
    root: String,
    locationDirectives: String = "",
    extraConfig: String = "",
    httpDirectives: String = "",
    _ body: (Nginx) async throws -> Value
) async throws -> Value {
    let nginx = try await Nginx.start(
        root: root,
        locationDirectives: locationDirectives,
        extraConfig: extraConfig,
        httpDirectives: httpDirectives
    )
    do {
        let value = try await body(nginx)
        await nginx.stop()
        return value
    } catch {
        await nginx.stop()
        throw error
    }
}
