// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc

/// The user's systemd, which runs programs as transient units: org.freedesktop.systemd1(5).
struct UserManager: Sendable {
    private static let interface: InterfaceName = "org.freedesktop.systemd1.Manager"
    /// systemd's own time limit is this much longer than the caller's; it ends a program that was
    /// not ended by then.
    private static let grace: Duration = .seconds(10)

    private let manager: BusService

    init(_ connection: Connection) {
        manager = BusService(
            connection,
            "org.freedesktop.systemd1",
            "/org/freedesktop/systemd1",
            Self.interface
        )
    }

    var isRunning: Bool { get async { await manager.isRunning } }

    /// Runs a program as a transient unit.
    ///
    /// - Parameters:
    ///   - arguments: the program's absolute path, followed by its arguments.
    ///   - name: becomes part of the unit's name.
    ///   - limit: how long to wait for the program to end; then all processes of the unit are asked
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
            let ends = try await manager.connection.signals(
                MatchRule(sender: manager.name, interface: Self.interface, member: "JobRemoved")
            )
            if limit != nil { try await subscribe() }
            let answer = try await manager.call(
                "StartTransientUnit",
                Self.startArguments(unit, arguments, within: limit)
            )
            guard let limit, case .objectPath(let job) = answer.first else { return }
            let clock = Task {
                guard (try? await Task.sleep(for: limit)) != nil else { return }
                await end(unit)
            }
            defer { clock.cancel() }
            for try await end in ends where end.arguments.dropFirst().first == .objectPath(job) {
                guard case .string("done") = end.arguments.last else { break }
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
        _ = try? await manager.call("KillUnit", [.string(unit), .string("all"), .int32(SIGTERM)])
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

    /// The arguments of `StartTransientUnit`: `ssa(sv)a(sa(sv))`.
    static func startArguments(
        _ unit: String,
        _ arguments: [String],
        within limit: Duration?
    ) -> [Value] {
        // systemd replaces variables after `$` unless it is doubled (systemd.service(5), "Command
        // lines").
        let literal = arguments.map { $0.replacing("$", with: "$$") }
        let command = Value.structure([
            .string(arguments[0]), literal.busValue,
            // A failure of the program is a failure of the unit.
            .boolean(false),
        ])
        var properties: [(String, Value)] = [
            ("Description", .string("Started by idown")),
            ("ExecStart", .array(of: "(sasb)", [command])),
            // The job of a "oneshot" unit is done when the program has ended.
            ("Type", .string(limit == nil ? "exec" : "oneshot")),
            ("CollectMode", .string("inactive-or-failed")),
            // Processes that the program leaves in the background go on, such as the viewer that
            // xdg-open starts.
            ("KillMode", .string("process")),
        ]
        if let limit {
            let seconds = UInt64(clamping: (limit + grace).components.seconds)
            properties.append(("TimeoutStartUSec", .uint64(seconds * 1_000_000)))
        }
        let list = properties.map { Value.structure([.string($0), .variant($1)]) }
        return [
            .string(unit), .string("fail"), .array(of: "(sv)", list),
            .array(of: "(sa(sv))", []),
        ]
    }
}
