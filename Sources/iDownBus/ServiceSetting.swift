// SPDX-License-Identifier: Apache-2.0

internal import DBus

/// A property of the manager that the user may change; the raw value is its name on the bus.
public enum ServiceSetting: String, CaseIterable, Hashable, Sendable {
    /// How many tasks download at once.
    case maxConcurrentDownloads = "MaxConcurrentDownloads"
    /// How many connections a task may open that says nothing of its own.
    case maxConnectionsPerDownload = "MaxConnectionsPerDownload"
    /// The most bytes a second over all tasks; 0 for no limit.
    case speedLimit = "SpeedLimit"
    /// Where downloads go that name no folder.
    case downloadDirectory = "DownloadDirectory"
    /// Whether tasks wait while the network costs by the byte.
    case holdOnMetered = "HoldOnMetered"
    /// Whether tasks wait while the battery is low.
    case holdOnLowBattery = "HoldOnLowBattery"
    /// How many days a completed task stays in the list; 0 is for ever.
    case keepCompleted = "KeepCompleted"

    /// A setting's value.
    public enum Content: Hashable, Sendable {
        /// A number of things, or of days.
        case count(UInt32)
        /// Bytes a second.
        case rate(UInt64)
        /// An absolute path.
        case path(String)
        /// Yes or no.
        case flag(Bool)
    }
}

extension ServiceSetting.Content {
    /// Reads a property; nil for a type that no setting has.
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
    /// All settings that this service has, in the order of ``ServiceSetting``.
    public func settings() async throws(ManagerError) -> [(
        setting: ServiceSetting, content: ServiceSetting.Content
    )] {
        let properties = try await asking { () throws(BusError) in
            try await manager.getAll(timeout: patience)
        }
        return ServiceSetting.allCases.compactMap { setting in
            properties[setting.rawValue].flatMap(ServiceSetting.Content.init).map { (setting, $0) }
        }
    }

    /// Changes a setting.
    ///
    /// - Throws: `InvalidArgs` outside of its range.
    public func set(
        _ setting: ServiceSetting,
        to content: ServiceSetting.Content
    ) async throws(ManagerError) {
        // Letters all of them, as a test holds.
        guard let name = try? MemberName(validating: setting.rawValue) else { return }
        switch content {
        case .count(let count): try await set(name, to: count)
        case .rate(let rate): try await set(name, to: rate)
        case .path(let path): try await set(name, to: path)
        case .flag(let flag): try await set(name, to: flag)
        }
    }
}
