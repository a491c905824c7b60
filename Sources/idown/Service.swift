// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import iDownBus
import iDownView

/// Runs a command's work with a client of the service, and turns its errors into words and codes.
enum Service {
    /// Connects, runs the work and disconnects.
    ///
    /// - Parameters:
    ///   - startsService: Whether a call starts a service that does not run.
    ///   - isOptional: Whether the work goes on where no service runs and none may be started;
    ///     otherwise this says so and ends the command.
    ///   - body: The work.
    /// - Throws: `ExitCode` after telling an error of the service; what the work throws.
    static func use(
        startsService: Bool = true,
        isOptional: Bool = false,
        _ body: (ManagerClient) async throws -> Void
    ) async throws {
        do {
            let client = try await ManagerClient.connect(
                patience: patience,
                startsService: startsService
            )
            do {
                if !startsService, !isOptional, try await !client.isRunning() {
                    Output.complain(
                        "the service does not run, and --no-start leaves it so;"
                            + " start it with: idown service start"
                    )
                    throw ExitStatus.unreachable.exit
                }
                try await body(client)
            } catch {
                await client.close()
                throw error
            }
            await client.close()
        } catch let error as ManagerError {
            Output.complain(error.code == .noServer ? missingBus : error.description)
            throw ExitStatus(error).exit
        }
    }

    /// How long to wait for an answer: IDOWN_TIMEOUT in seconds, else the client's default.
    static var patience: Duration {
        seconds(in: timeout).map { .seconds($0) } ?? ManagerClient.patience
    }

    /// Refuses an IDOWN_TIMEOUT that is set and is no number of seconds.
    ///
    /// - Throws: `ValidationError`, which names the value.
    static func checkPatience() throws {
        guard !timeout.isEmpty, seconds(in: timeout) == nil else { return }
        throw ValidationError(
            "IDOWN_TIMEOUT is a number of seconds from 1 to \(UInt32.max), not \(CellText(timeout))"
        )
    }

    private static var timeout: String { getenv("IDOWN_TIMEOUT").map { String(cString: $0) } ?? "" }

    private static func seconds(in text: String) -> UInt32? {
        UInt32(text).flatMap { $0 > 0 ? $0 : nil }
    }
}

// Help without a session bus: over ssh, in a container, in a cron job.
extension Service {
    /// The message without a session bus, with the command that helps.
    private static var missingBus: String {
        "there is no session bus here, and the download service is reached over one. Run: "
            + remedy(for: CommandLine.arguments.dropFirst().first)
    }

    /// The command line that reaches a bus.
    ///
    /// Its arguments are not repeated: they may hold secrets, and standard error ends up in logs.
    static func remedy(for verb: String?) -> String {
        let command = "idown \(verb.map { CellText($0).cut(to: 20).description } ?? "list") …"
        let path = "/run/user/\(getuid())/bus"
        let address = "unix:path=\(path)"
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK,
            getenv("DBUS_SESSION_BUS_ADDRESS").map({ String(cString: $0) }) != address
        {
            // The user is logged in to a desktop, and this shell does not know it.
            return "DBUS_SESSION_BUS_ADDRESS=\(address) \(command)"
        }
        let hint =
            ProgramPath.find("dbus-run-session") == nil
            ? " (dbus-run-session comes with D-Bus; on Debian: apt install dbus-daemon)" : ""
        return "dbus-run-session -- \(command)\(hint)"
    }
}
