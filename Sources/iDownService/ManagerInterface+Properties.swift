// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownBus
import iDownData
import iDownSettings
import iDownState

extension ManagerInterface {
    private typealias Name = Contract.Property

    /// Returns the table of `org.idown.Settings1`: the settings that `org.idown.Manager1` lacks.
    static func settings(for service: ManagerService) -> Interface {
        let adapter = ManagerInterface(service: service)
        return Interface(
            Contract.settingsInterface,
            adapter.settings(of: .settings),
            errors: service.wording
        )
    }

    var properties: [Member] {
        [
            .property(Name.version, .constant, get: { Contract.version }),
            .property(
                Name.capabilities,
                .constant,
                get: { Capability.allCases.map(\.rawValue) }
            ),
        ] + settings(of: .manager) + [
            count(Name.taskCount) { $0.total }, count(Name.waitingCount) { $0[.waiting] },
            count(Name.activeCount) { $0[.downloading] },
            .property(
                Name.serial,
                .never,
                get: { UInt64(clamping: try await coordinator.position().serial) }
            ),
            .property(Name.listID, .constant, get: { try await coordinator.position().list }),
            .property(Name.speed, .never, get: { await coordinator.speed }),
        ]
    }

    private func count(
        _ name: MemberName,
        _ count: @escaping @Sendable (TaskCounts) -> Int
    ) -> Member {
        .property(
            name,
            now: { coordinator.store.recentCounts().map { UInt32(clamping: count($0)) } },
            get: { UInt32(clamping: count(try await coordinator.counts())) }
        )
    }

    private var coordinator: Coordinator { service.coordinator }

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
            now: { _ in service.valueNow(of: setting).map { WireWriter(setting.value($0)) } },
            get: { WireWriter(setting.value(try await service.value($0, of: setting))) },
            set: setter
        )
    }

    private func set(_ call: Call, _ setting: Setting, to value: Value) async throws {
        guard let content = setting.content(value), setting.allows(content) else {
            throw ManagerError(.invalidArguments, "\(setting.rawValue) must be \(setting.form).")
        }
        try await service.set(call, setting, to: content)
    }
}
