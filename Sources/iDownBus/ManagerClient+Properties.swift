// SPDX-License-Identifier: Apache-2.0

internal import DBus
public import iDownSettings

extension ManagerClient {
    private typealias Name = Contract.Property

    /// Returns all settings of this service, in the order of `Setting`.
    public func settings() async throws(ManagerError) -> [(
        setting: Setting, content: Setting.Content
    )] {
        let ofManager = try await settings(of: .manager)
        do {
            return try await ofManager + settings(of: .settings)
        } catch  where error.code == .unknownInterface {
            // An older service has no such interface.
            return ofManager
        }
    }

    /// Returns the settings of an interface.
    ///
    /// - Throws: `UnknownInterface` if an older service does not have the interface.
    package func settings(
        of place: Setting.Place
    ) async throws(ManagerError) -> [(setting: Setting, content: Setting.Content)] {
        let proxy = manager.at(nil, place.interface)
        let properties = try await asking { () throws(BusError) in try await proxy.getAll() }
        return Setting.allCases.compactMap { setting in
            properties[setting.rawValue].flatMap(setting.content).map { (setting, $0) }
        }
    }

    /// Returns the value of a setting, with `***` in place of a password.
    ///
    /// - Throws: `UnknownProperty` for a setting that this service does not have.
    public func value(of setting: Setting) async throws(ManagerError) -> Setting.Content {
        let known = try await settings(of: setting.place)
        guard let content = known.first(where: { $0.setting == setting })?.content else {
            throw ManagerError(.unknownProperty, "The service has no setting \(setting.rawValue).")
        }
        return content
    }

    /// Changes a setting; the change is durable on return.
    ///
    /// - Throws: `InvalidArgs` for a value that the setting cannot have; `PropertyReadOnly` for a
    ///   setting that the user can only change in the file; `InvalidDestination` for a download
    ///   folder that is not allowed.
    public func set(_ setting: Setting, to content: Setting.Content) async throws(ManagerError) {
        let proxy = manager.at(nil, setting.place.interface)
        try await asking { () throws(BusError) in
            try await proxy.set(setting.memberName, to: setting.value(content))
        }
    }

    /// Returns the version of the service; starts the service.
    public func version() async throws(ManagerError) -> String { try await get(Name.version) }

    /// Returns the service's features beyond the first version of the contract.
    ///
    /// Unknown words are left out. A service without the property has no such features.
    public func capabilities() async throws(ManagerError) -> Set<Capability> {
        do {
            let words: [String] = try await get(Name.capabilities)
            return Set(words.compactMap(Capability.init))
        } catch  where error.code == .unknownProperty {
            return []
        }
    }

    /// Returns how many tasks are in the list.
    public func taskCount() async throws(ManagerError) -> UInt32 { try await get(Name.taskCount) }

    /// Returns how many tasks are waiting.
    public func waitingCount() async throws(ManagerError) -> UInt32 {
        try await get(Name.waitingCount)
    }

    /// Returns how many tasks are downloading.
    public func activeCount() async throws(ManagerError) -> UInt32 {
        try await get(Name.activeCount)
    }

    /// Returns the speed of all tasks together, in bytes per second.
    public func speed() async throws(ManagerError) -> UInt64 { try await get(Name.speed) }
}
