// SPDX-License-Identifier: Apache-2.0

internal import DBus

/// A setting of the service; the raw value is the name of its property on the bus.
public enum ServiceSetting: String, CaseIterable, Hashable, Sendable {
    /// How many tasks may download at once.
    case maxConcurrentDownloads = "MaxConcurrentDownloads"
    /// How many connections a task may open unless it has its own limit.
    case maxConnectionsPerDownload = "MaxConnectionsPerDownload"
    /// The most bytes per second of all tasks together; 0 means no limit.
    case speedLimit = "SpeedLimit"
    /// The folder for downloads that name no folder.
    case downloadDirectory = "DownloadDirectory"
    /// Whether tasks wait while the network is metered.
    case holdOnMetered = "HoldOnMetered"
    /// Whether tasks wait while the battery is low.
    case holdOnLowBattery = "HoldOnLowBattery"
    /// How many days a completed task stays in the list; 0 means forever.
    case keepCompleted = "KeepCompleted"

    /// The value of a setting.
    public enum Content: Hashable, Sendable {
        /// A number of tasks, connections or days.
        case count(UInt32)
        /// Bytes per second.
        case rate(UInt64)
        /// An absolute path.
        case path(String)
        /// On or off.
        case flag(Bool)
    }
}

extension ServiceSetting.Content {
    /// Decodes a property; nil for a type that no setting has.
    init?(_ value: Value) {
        switch value {
        case .uint32(let count): self = .count(count)
        case .uint64(let rate): self = .rate(rate)
        case .string(let path): self = .path(path)
        case .boolean(let flag): self = .flag(flag)
        default: return nil
        }
    }
}

extension ManagerClient {
    /// Returns all settings that this service has, in the order of ``ServiceSetting``.
    public func settings() async throws(ManagerError) -> [(
        setting: ServiceSetting, content: ServiceSetting.Content
    )] {
        let properties = try await asking { () throws(BusError) in
            try await manager.getAll()
        }
        return ServiceSetting.allCases.compactMap { setting in
            properties[setting.rawValue].flatMap(ServiceSetting.Content.init).map { (setting, $0) }
        }
    }

    /// Changes a setting.
    ///
    /// - Throws: `InvalidArgs` if the value is out of range.
    public func set(
        _ setting: ServiceSetting,
        to content: ServiceSetting.Content
    ) async throws(ManagerError) {
        // It never fails: a test checks that every name is valid.
        guard let name = try? MemberName(validating: setting.rawValue) else { return }
        switch content {
        case .count(let count): try await set(name, to: count)
        case .rate(let rate): try await set(name, to: rate)
        case .path(let path): try await set(name, to: path)
        case .flag(let flag): try await set(name, to: flag)
        }
    }
}
