// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A message bus of a test's own: a real `dbus-daemon`.
///
/// It does not read the system's configuration, so it activates no installed service by accident,
/// only services from folders that the test names.
package final class PrivateBus: Sendable {
    /// Why the bus did not start.
    package struct StartFailure: Error, CustomStringConvertible {
        package let description: String
    }

    /// The address for clients: `unix:path=…,guid=…`.
    package let address: String

    private let daemon: ChildProcess
    private let folder: String

    private init(address: String, daemon: ChildProcess, folder: String) {
        self.address = address
        self.daemon = daemon
        self.folder = folder
    }

    /// The process id of the daemon, for tests that end the bus.
    package var processID: Int32 {
        daemon.processIdentifier
    }

    /// The test's own environment, with this bus as the session bus.
    package var environment: [String: String] {
        var variables: [String: String] = [:]
        for name in ["HOME", "LANG", "LD_LIBRARY_PATH", "PATH", "USER"] {
            variables[name] = getenv(name).map { String(cString: $0) }
        }
        variables["DBUS_SESSION_BUS_ADDRESS"] = address
        return variables
    }

    /// Starts a daemon and returns once it accepts connections.
    ///
    /// - Parameters:
    ///   - serviceFolders: Folders with `.service` files that the bus may activate.
    ///   - path: The socket's path; nil makes a new one. With the path of a bus that has ended, the
    ///     new bus replaces it, for tests of a bus that comes back.
    /// - Returns: The running bus, which the caller must stop.
    /// - Throws: ``ChildProcess/StartFailure`` or ``StartFailure``.
    package static func start(
        serviceFolders: [String] = [],
        socket path: String? = nil
    ) async throws -> PrivateBus {
        // The path of a socket has at most 107 bytes: unix(7).
        let folder = makeTemporaryFolder(in: "/tmp")
        do {
            let socket = path ?? folder + "/bus"
            let configuration = folder + "/bus.conf"
            try TestFile.write(
                configurationText(socket: socket, serviceFolders: serviceFolders),
                to: configuration
            )
            let daemon = try await ChildProcess.start(
                "dbus-daemon",
                [
                    "--config-file=\(configuration)", "--nofork", "--nopidfile", "--nosyslog",
                    "--print-address=1",
                ]
            )
            guard let address = await daemon.nextLine() else {
                await daemon.stop()
                throw StartFailure(description: "dbus-daemon: \(daemon.standardError)")
            }
            return PrivateBus(address: address, daemon: daemon, folder: folder)
        } catch {
            removeTree(folder)
            throw error
        }
    }

    /// Ends the daemon and all its connections; further calls do nothing.
    package func stop() async {
        await daemon.stop()
        removeTree(folder)
    }

    /// Kills the daemon, as a crash does; ``stop()`` must still be called afterwards.
    package func kill() async {
        daemon.send(SIGKILL)
        await daemon.waitForExit()
    }
}

extension PrivateBus {
    private static func configurationText(socket: String, serviceFolders: [String]) -> String {
        let services = serviceFolders.map { "<servicedir>\($0)</servicedir>" }.joined()
        // The limits are those of a usual session bus, as far as tests reach them.
        return """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>session</type>
              <keep_umask/>
              <listen>unix:path=\(socket)</listen>
              <auth>EXTERNAL</auth>
              \(services)
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
              </policy>
              <limit name="max_incoming_bytes">1000000000</limit>
              <limit name="max_outgoing_bytes">1000000000</limit>
              <limit name="max_message_size">1000000000</limit>
              <limit name="service_start_timeout">120000</limit>
              <limit name="max_replies_per_connection">50000</limit>
              <limit name="max_match_rules_per_connection">50000</limit>
              <limit name="max_names_per_connection">50000</limit>
              <limit name="max_connections_per_user">10000</limit>
              <limit name="max_completed_connections">10000</limit>
            </busconfig>
            """
    }
}

/// Runs `body` with a bus of its own and ends the bus afterwards, even if `body` throws.
package func withPrivateBus<Value>(
    serviceFolders: [String] = [],
    _ body: (PrivateBus) async throws -> Value
) async throws -> Value {
    let bus = try await PrivateBus.start(serviceFolders: serviceFolders)
    do {
        let value = try await body(bus)
        await bus.stop()
        return value
    } catch {
        await bus.stop()
        throw error
    }
}
