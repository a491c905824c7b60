// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc

/// The user's systemd, which starts programs as units: `org.freedesktop.systemd1(5)`.
struct UserManager: Sendable {
    private static let job: InterfaceName = "org.freedesktop.systemd1.Manager"
    /// So much later systemd ends by itself what nobody has ended, and the program alone.
    private static let grace: Duration = .seconds(10)

    private let manager: BusService

    init(_ connection: Connection) {
        manager = BusService(
            connection,
            "org.freedesktop.systemd1",
            "/org/freedesktop/systemd1",
            Self.job
        )
    }

    var isThere: Bool { get async { await manager.isThere } }

    /// Runs a program as a transient unit.
    ///
    /// - Parameters:
    ///   - arguments: the program's absolute path, and what follows it.
    ///   - name: becomes part of the unit's name.
    ///   - limit: how long to wait for its end, after which it is asked to end with all that it
    ///     has started; nil does not wait.
    /// - Throws: `notStarted`; where it is waited for also `ended`.
    func run(
        _ arguments: [String],
        named name: String,
        within limit: Duration?
    ) async throws(UserPrograms.Failure) {
        do throws(BusError) {
            // The bus knows the rule before the job can be over.
            let ends = try await manager.connection.signals(
                MatchRule(sender: manager.name, interface: Self.job, member: "JobRemoved")
            )
            if limit != nil { try await subscribe() }
            let unit = "app-idown-\(name)-\(UInt64.random(in: .min ... .max)).service"
            let answer = try await manager.call(
                "StartTransientUnit",
                Self.start(unit, arguments, within: limit)
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
        throw .ended("\(arguments[0]) failed; systemctl --user and the journal tell more")
    }

    /// Asks all processes of a unit to end.
    private func end(_ unit: String) async {
        // Where that fails systemd's own limit ends the program.
        _ = try? await manager.call("KillUnit", [.string(unit), .string("all"), .int32(SIGTERM)])
    }

    /// A connection subscribes once: every further time is refused, and the first one stands.
    private func subscribe() async throws(BusError) {
        do throws(BusError) {
            try await manager.call("Subscribe")
        } catch {
            guard error.name == "org.freedesktop.systemd1.AlreadySubscribed" else { throw error }
        }
    }

    /// The arguments of `StartTransientUnit`: `ssa(sv)a(sa(sv))`.
    static func start(
        _ unit: String,
        _ arguments: [String],
        within limit: Duration?
    ) -> [Value] {
        // systemd puts variables in for `$` (systemd.service(5), "Command lines").
        let literal = arguments.map { $0.replacing("$", with: "$$") }
        let command = Value.structure([
            .string(arguments[0]), literal.busValue,
            // Its failure is one.
            .boolean(false),
        ])
        var properties: [(String, Value)] = [
            ("Description", .string("Started by idown")),
            ("ExecStart", .array(of: "(sasb)", [command])),
            // A job of this type is over when the program has ended.
            ("Type", .string(limit == nil ? "exec" : "oneshot")),
            ("CollectMode", .string("inactive-or-failed")),
            // What it leaves in the background is the user's, as the program that xdg-open starts.
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
