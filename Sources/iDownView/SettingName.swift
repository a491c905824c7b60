// SPDX-License-Identifier: Apache-2.0

package import iDownBus

/// Settings as people type and read them: `speed-limit`, `10M`.
package enum SettingName {
    /// The name with dashes.
    package static func text(_ setting: ServiceSetting) -> String {
        switch setting {
        case .maxConcurrentDownloads: "max-concurrent-downloads"
        case .maxConnectionsPerDownload: "max-connections-per-download"
        case .speedLimit: "speed-limit"
        case .downloadDirectory: "download-directory"
        case .holdOnMetered: "hold-on-metered"
        case .holdOnLowBattery: "hold-on-low-battery"
        case .keepCompleted: "keep-completed"
        }
    }

    /// The setting with this name, with dashes or as it is on the bus; case makes no difference.
    package static func setting(_ name: String) -> ServiceSetting? {
        let name = name.lowercased()
        return ServiceSetting.allCases.first {
            text($0) == name || $0.rawValue.lowercased() == name
        }
    }

    /// What a setting may be, completing the sentence "it is …".
    package static func range(of setting: ServiceSetting) -> String {
        switch setting {
        case .maxConcurrentDownloads: range(Contract.concurrentDownloads)
        case .maxConnectionsPerDownload: range(Contract.connections)
        case .speedLimit: "a rate such as 500k, 10M or 1.5GiB/s, or off"
        case .downloadDirectory: "a folder"
        case .holdOnMetered, .holdOnLowBattery: "on or off"
        case .keepCompleted: "a number of days such as 30d, or forever"
        }
    }

    /// Reads a value; nil for what it cannot be.
    package static func content(_ text: String, of setting: ServiceSetting) -> ServiceSetting
        .Content?
    {
        switch setting {
        case .maxConcurrentDownloads: count(text, within: Contract.concurrentDownloads)
        case .maxConnectionsPerDownload: count(text, within: Contract.connections)
        case .speedLimit: Quantity.rate(text).map { .rate($0) }
        case .downloadDirectory: text.isEmpty ? nil : .path(text)
        case .holdOnMetered, .holdOnLowBattery: flag(text).map { .flag($0) }
        case .keepCompleted: Quantity.days(text).map { .count($0) }
        }
    }

    /// A value so that ``content(_:of:)`` reads the same.
    package static func text(of content: ServiceSetting.Content, _ setting: ServiceSetting)
        -> String
    {
        switch content {
        case .count(let count):
            setting == .keepCompleted ? (count == 0 ? "forever" : "\(count)d") : "\(count)"
        case .rate(let rate): Quantity.text(ofRate: rate)
        case .path(let path): CellText(path).description
        case .flag(let flag): flag ? "on" : "off"
        }
    }

    /// The settings and what they may be, for a help.
    package static var documentation: String {
        ServiceSetting.allCases.map { "  \(text($0)): \(range(of: $0))" }.joined(separator: "\n")
    }

    private static func range(_ range: ClosedRange<UInt32>) -> String {
        "\(range.lowerBound) to \(range.upperBound)"
    }

    private static func count(
        _ text: String,
        within range: ClosedRange<UInt32>
    ) -> ServiceSetting.Content? {
        UInt32(text).flatMap { range.contains($0) ? .count($0) : nil }
    }

    private static func flag(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "on", "yes", "true", "1": true
        case "off", "no", "false", "0": false
        default: nil
        }
    }
}

/// Settings for programs: an object whose keys are the names of the properties on the bus.
package struct SettingsJSON: Encodable, Sendable {
    private let settings: [(setting: ServiceSetting, content: ServiceSetting.Content)]

    package init(_ settings: [(setting: ServiceSetting, content: ServiceSetting.Content)]) {
        self.settings = settings
    }

    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        for (setting, content) in settings {
            let key = Key(stringValue: setting.rawValue)
            switch content {
            case .count(let count): try object.encode(count, forKey: key)
            case .rate(let rate): try object.encode(rate, forKey: key)
            case .path(let path): try object.encode(path, forKey: key)
            case .flag(let flag): try object.encode(flag, forKey: key)
            }
        }
    }

    private struct Key: CodingKey {
        let stringValue: String

        init(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }

        var intValue: Int? { nil }
    }
}
