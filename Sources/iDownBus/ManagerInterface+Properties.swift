// SPDX-License-Identifier: Apache-2.0

internal import DBus
internal import iDownSettings

extension ManagerInterface {
    private typealias Name = Contract.Property

    /// Returns `org.idown.Settings1`, the settings that `org.idown.Manager1` does not have.
    static func settings(for handler: any ManagerHandling) -> Interface {
        let adapter = ManagerInterface(handler: handler)
        return Interface(
            Contract.settingsInterface,
            adapter.settings(of: .settings),
            errors: handler.wording
        )
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
            count(Name.taskCount) { $0.all }, count(Name.waitingCount) { $0.waiting },
            count(Name.activeCount) { $0.active },
            .property(Name.serial, .never, get: { try await handler.position.serial }),
            .property(Name.listID, .constant, get: { try await handler.position.list }),
            .property(Name.speed, .never, get: { await handler.speed }),
        ]
    }

    private func count(
        _ name: MemberName,
        _ count: @escaping @Sendable ((all: UInt32, waiting: UInt32, active: UInt32)) -> UInt32
    ) -> Member {
        .property(
            name,
            now: { handler.countsNow.map(count) },
            get: { count(try await handler.counts) }
        )
    }

    private func settings(of place: Setting.Place) -> [Member] {
        Setting.allCases.filter { $0.place == place }.map(property(of:))
    }

    private func property(of setting: Setting) -> Member {
        var setter: (@Sendable (Call, Value) async throws -> Void)?
        if !setting.isReadOnly { setter = { try await set($0, setting, to: $1) } }
        return .property(
            setting.memberName,
            type: setting.signature,
            setting.isPrivate ? .invalidates : .changes,
            now: { _ in handler.valueNow(of: setting).map { WireWriter(setting.value($0)) } },
            get: { WireWriter(setting.value(try await handler.value($0, of: setting))) },
            set: setter
        )
    }

    private func set(_ call: Call, _ setting: Setting, to value: Value) async throws {
        guard let content = setting.content(value), setting.allows(content) else {
            throw ManagerError(.invalidArguments, "\(setting.rawValue) must be \(setting.form).")
        }
        try await handler.set(call, setting, to: content)
    }
}
