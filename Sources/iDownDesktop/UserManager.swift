// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc

/// The user's systemd, which runs programs as transient units: org.freedesktop.systemd1(5).
struct UserManager: Sendable {
    private static let jobRemoved = Signal<UInt32, ObjectPath, String, String>(
        "org.freedesktop.systemd1.Manager",
        "JobRemoved",
        arguments: ["id", "job", "unit", "result"]
    )
    /// systemd's own time limit is this much longer than the caller's; it ends a program that was
    /// not ended by then.
    private static let grace: Duration = .seconds(10)

    private let manager: Proxy

    init(_ connection: Connection) {
        manager = Proxy(
            optional: connection,
            "org.freedesktop.systemd1",
            "/org/freedesktop/systemd1",
            Self.jobRemoved.interface
        )
    }

    var isRunning: Bool { get async { await manager.isRunning } }

    /// Runs a program as a transient unit.
    ///
    /// - Parameters:
    ///   - arguments: The program's absolute path, followed by its arguments.
    ///   - name: Becomes part of the unit's name.
    ///   - limit: How long to wait for the program to end; then all processes of the unit are asked
    ///     to end. Nil does not wait.
    /// - Throws: `notStarted`, and `ended` if the program is waited for and fails.
    func run(
        _ arguments: [String],
        named name: String,
        within limit: Duration?
    ) async throws(ProgramLauncher.Failure) {
        let unit = "app-idown-\(name)-\(UInt64.random(in: .min ... .max)).service"
        do throws(BusError) {
            // Subscribed before the job starts, so that its end is not missed.
            let ends = try await manager.signals(Self.jobRemoved)
            if limit != nil { try await subscribe() }
            let job = try await manager.call(
                "StartTransientUnit",
                unit,
                "fail",
                Self.properties(arguments, within: limit),
                [Structure<String, [Structure<String, Value>]>](),
                returning: ObjectPath.self
            )
            guard let limit else { return }
            let clock = Task {
                guard (try? await Task.sleep(for: limit)) != nil else { return }
                await end(unit)
            }
            defer { clock.cancel() }
            for try await (_, ended, _, result) in ends where ended == job {
                guard result == "done" else { break }
                return
            }
        } catch {
            throw .notStarted(error.description)
        }
        throw .ended("\(arguments[0]) failed; for its output see: journalctl --user --unit \(unit)")
    }

    /// Asks all processes of a unit to end.
    private func end(_ unit: String) async {
        // If this call fails, systemd's own time limit ends the program.
        try? await manager.call("KillUnit", unit, "all", SIGTERM)
    }

    /// Has systemd send signals to this connection.
    ///
    /// A connection can subscribe only once; the error for a second time is ignored.
    private func subscribe() async throws(BusError) {
        do throws(BusError) {
            try await manager.call("Subscribe")
        } catch {
            guard error.name == "org.freedesktop.systemd1.AlreadySubscribed" else { throw error }
        }
    }

    /// The properties of a transient unit.
    private static func properties(
        _ arguments: [String],
        within limit: Duration?
    ) -> [Structure<String, Value>] {
        // systemd replaces variables after `$` unless it is doubled (systemd.service(5), "Command
        // lines").
        let literal = arguments.map { $0.replacing("$", with: "$$") }
        let command = Value.structure([
            .string(arguments[0]), literal.busValue,
            // A failure of the program is a failure of the unit.
            .boolean(false),
        ])
        var properties: [Structure<String, Value>] = [
            Structure("Description", .string("Started by idown")),
            Structure("ExecStart", .array(of: "(sasb)", [command])),
            // The job of a "oneshot" unit is done when the program has ended.
            Structure("Type", .string(limit == nil ? "exec" : "oneshot")),
            Structure("CollectMode", .string("inactive-or-failed")),
            // Processes that the program leaves in the background go on, such as the viewer that
            // xdg-open starts.
            Structure("KillMode", .string("process")),
        ]
        if let limit {
            let seconds = UInt64(clamping: (limit + grace).components.seconds)
            properties.append(Structure("TimeoutStartUSec", .uint64(seconds * 1_000_000)))
        }
        return properties
    }
}
