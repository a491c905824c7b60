// SPDX-License-Identifier: Apache-2.0

internal import DBus
internal import iDownSettings

extension ManagerInterface {
    private typealias Name = Contract.Property

    /// Returns `org.idown.Settings1`, the settings that `org.idown.Manager1` does not have.
    static func settings(for handler: any ManagerHandling) -> Interface {
        let adapter = ManagerInterface(handler: handler)
        return Interface(Contract.settingsInterface, adapter.settings(of: .settings))
    }

    var properties: [Member] {
        [
            .property(Name.version, .constant, get: { handler.version }),
            .property(
                Name.capabilities,
                .constant,
                get: { Capability.allCases.map(\.rawValue) }
            ),
        ] + settings(of: .manager) + [
            count(Name.taskCount) { () throws(ManagerError) in try await handler.counts.all },
            count(Name.waitingCount) { () throws(ManagerError) in try await handler.counts.waiting
            },
            count(Name.activeCount) { () throws(ManagerError) in try await handler.counts.active },
            .property(
                Name.serial,
                .never,
                get: { (_: Call) async throws -> UInt64 in
                    try await answer { () throws(ManagerError) in try await handler.position.serial
                    }
                }
            ),
            .property(
                Name.listID,
                .constant,
                get: { (_: Call) async throws -> String in
                    try await answer { () throws(ManagerError) in try await handler.position.list }
                }
            ),
            .property(
                Name.speed,
                .never,
                get: { (_: Call) async throws -> UInt64 in
                    try await answer { () throws(ManagerError) in try await handler.speed }
                }
            ),
        ]
    }

    private func settings(of place: Setting.Place) -> [Member] {
        Setting.allCases.filter { $0.place == place }.map(property(of:))
    }

    private func property(of setting: Setting) -> Member {
        var setter: (@Sendable (Call, Value) async throws -> Void)?
        if !setting.isReadOnly { setter = { try await set(setting, to: $1, $0) } }
        return .property(
            setting.memberName,
            type: setting.signature,
            setting.isPrivate ? .invalidates : .changes,
            get: { (call: Call) async throws -> Value in
                let content = try await answer { () throws(ManagerError) in
                    try await handler.value(of: setting, call: call)
                }
                return setting.value(content)
            },
            set: setter
        )
    }

    private func set(_ setting: Setting, to value: Value, _ call: Call) async throws(BusError) {
        try await answer { () throws(ManagerError) in
            guard let content = setting.content(value), setting.allows(content) else {
                throw ManagerError(
                    .invalidArguments,
                    "\(setting.rawValue) must be \(setting.form)."
                )
            }
            try await handler.set(setting, to: content, call: call)
        }
    }

    private func count(
        _ name: MemberName,
        _ body: @escaping @Sendable () async throws(ManagerError) -> UInt32
    ) -> Member {
        .property(name, get: { (_: Call) async throws -> UInt32 in try await answer(body) })
    }
}
