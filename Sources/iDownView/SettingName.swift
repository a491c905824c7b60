// SPDX-License-Identifier: Apache-2.0

private import FoundationEssentials
package import iDownBus

/// The names and values of settings on the command line, such as `speed-limit` and `10M`.
package enum SettingName {
    /// Returns the name in lower case with dashes.
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

    /// Returns the setting with a name, either with dashes or as on the bus; case is ignored.
    package static func setting(_ name: String) -> ServiceSetting? {
        let name = name.lowercased()
        return ServiceSetting.allCases.first {
            text($0) == name || $0.rawValue.lowercased() == name
        }
    }

    /// Returns the valid values of a setting, as in "speed-limit is …".
    package static func range(of setting: ServiceSetting) -> String {
        switch setting {
        case .maxConcurrentDownloads: range(Contract.concurrentDownloads)
        case .maxConnectionsPerDownload: range(Contract.connections)
        case .speedLimit: "a rate such as 500k, 10M or 1.5GiB/s, or off"
        case .downloadDirectory: "a folder"
        case .holdOnMetered, .holdOnLowBattery: "on or off"
        case .keepCompleted: "a number of days such as 30d or 4w, or forever"
        }
    }

    /// Reads a value; nil if it is not valid.
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

    /// Returns a value as text that ``content(_:of:)`` reads back.
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

    /// The settings and their values, for the help.
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

/// A setting that only the settings file holds; the raw value is its key there.
package enum FileSetting: String, CaseIterable, Hashable, Sendable {
    case proxy = "Proxy"
    case noProxy = "NoProxy"
    case cookieFile = "CookieFile"
    case notifications = "Notifications"
    case stayAwake = "StayAwake"
    case retryFor = "RetryFor"
    case whenDoneCommand = "WhenDoneCommand"
    case allowHiddenFolders = "AllowHiddenFolders"
    case useServerTime = "UseServerTime"
    case logLevel = "LogLevel"

    /// The name in lower case with dashes.
    package var name: String {
        rawValue.reduce(into: "") { name, letter in
            if letter.isUppercase, !name.isEmpty { name += "-" }
            name += letter.lowercased()
        }
    }

    /// Finds the setting with a name, either with dashes or as in the file; case is ignored.
    package init?(name: String) {
        let name = name.lowercased()
        let found = Self.allCases.first { $0.name == name || $0.rawValue.lowercased() == name }
        guard let found else { return nil }
        self = found
    }

    /// Whether the value is on or off.
    var isFlag: Bool {
        switch self {
        case .notifications, .stayAwake, .allowHiddenFolders, .useServerTime: true
        case .proxy, .noProxy, .cookieFile, .retryFor, .whenDoneCommand, .logLevel: false
        }
    }
}

/// The service program's report on the settings file: lines with a key, a tab and a text.
package struct SettingsFileReport: Hashable, Sendable {
    /// The path of the file, which need not exist.
    package let path: String
    /// The mistakes in the file, one sentence each; the service ignores a file with a mistake.
    package let mistakes: [String]
    /// Keys in the file that have no effect, a sentence each.
    package let notes: [String]
    /// Whether downloads wait until the file is mended.
    package let holdsDownloads: Bool
    /// The values in force, without passwords; a setting without a value is unset.
    package let values: [FileSetting: String]

    /// Reads the report; nil if it has no path.
    package init?(_ report: String) {
        var (path, mistakes, notes): (String?, [String], [String]) = (nil, [], [])
        var holdsDownloads = false
        var values: [FileSetting: String] = [:]
        for line in report.split(separator: "\n") {
            let parts = line.split(separator: "\t", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { continue }
            switch parts[0] {
            case "path": path = parts[1]
            case "mistake": mistakes.append(parts[1])
            case "note": notes.append(parts[1])
            case "hold": holdsDownloads = true
            default: if let key = FileSetting(rawValue: parts[0]) { values[key] = parts[1] }
            }
        }
        guard let path else { return nil }
        self.path = path
        self.mistakes = mistakes
        self.notes = notes
        self.holdsDownloads = holdsDownloads
        self.values = values
    }

    /// Returns a setting's value as text: `on`, `off` or another value; empty if it is unset.
    package func text(of setting: FileSetting) -> String {
        let value = values[setting] ?? ""
        if setting == .retryFor, let seconds = UInt64(value) {
            return Quantity.text(ofSeconds: seconds)
        }
        guard setting.isFlag else { return CellText(value).description }
        return value == "true" ? "on" : "off"
    }
}

/// The settings as a JSON object; its keys are the names on the bus and in the settings file.
package struct SettingsJSON: Encodable, Sendable {
    private let settings: [(setting: ServiceSetting, content: ServiceSetting.Content)]
    private let file: SettingsFileReport?

    /// Creates the object from the settings on the bus and, if it is known, from the file's report.
    package init(
        _ settings: [(setting: ServiceSetting, content: ServiceSetting.Content)],
        _ file: SettingsFileReport? = nil
    ) {
        self.settings = settings
        self.file = file
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
        for setting in file == nil ? [] : FileSetting.allCases {
            let key = Key(stringValue: setting.rawValue)
            let value = file?.values[setting]
            if setting.isFlag {
                try object.encode(value == "true", forKey: key)
            } else if setting == .retryFor {
                try object.encode(value.flatMap { UInt64($0) }, forKey: key)
            } else if setting == .whenDoneCommand, let value {
                let words = try JSONDecoder().decode([String].self, from: Data(value.utf8))
                try object.encode(words, forKey: key)
            } else {
                try object.encode(value, forKey: key)
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
