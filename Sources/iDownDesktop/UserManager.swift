// SPDX-License-Identifier: Apache-2.0

import DBus

/// The user's systemd, which starts programs as units: `org.freedesktop.systemd1(5)`.
struct UserManager: Sendable {
    private static let job: InterfaceName = "org.freedesktop.systemd1.Manager"

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
    ///   - untilEnd: whether to wait for its end.
    /// - Throws: `notStarted`; where it is waited for also `ended`.
    func run(
        _ arguments: [String],
        named name: String,
        untilEnd: Bool
    ) async throws(UserPrograms.Failure) {
        do throws(BusError) {
            // The bus knows the rule before the job can be over.
            let ends = try await manager.connection.signals(
                MatchRule(sender: manager.name, interface: Self.job, member: "JobRemoved")
            )
            if untilEnd { try await subscribe() }
            let unit = "app-idown-\(name)-\(UInt64.random(in: .min ... .max)).service"
            let answer = try await manager.call(
                "StartTransientUnit",
                Self.start(unit, arguments, untilEnd: untilEnd)
            )
            guard untilEnd, case .objectPath(let job) = answer.first else { return }
            for try await end in ends where end.arguments.dropFirst().first == .objectPath(job) {
                guard case .string("done") = end.arguments.last else { break }
                return
            }
        } catch {
            throw .notStarted(error.description)
        }
        throw .ended("\(arguments[0]) failed; systemctl --user and the journal tell more")
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
    static func start(_ unit: String, _ arguments: [String], untilEnd: Bool) -> [Value] {
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
            ("Type", .string(untilEnd ? "oneshot" : "exec")),
            ("CollectMode", .string("inactive-or-failed")),
            // What it leaves in the background is the user's, as the program that xdg-open starts.
            ("KillMode", .string("process")),
        ]
        if untilEnd {
            let limit = UInt64(UserPrograms.longestRun.components.seconds) * 1_000_000
            properties.append(("TimeoutStartUSec", .uint64(limit)))
        }
        let list = properties.map { Value.structure([.string($0), .variant($1)]) }
        return [
            .string(unit), .string("fail"), .array(of: "(sv)", list),
            .array(of: "(sa(sv))", []),
        ]
    }
}
