// SPDX-License-Identifier: Apache-2.0

private import FoundationEssentials
package import iDownSettings

/// The names and values of settings on the command line, such as `speed-limit` and `10M`.
package enum SettingName {
    /// Returns the name in lower case with dashes.
    package static func text(_ setting: Setting) -> String {
        setting.rawValue.reduce(into: "") { name, letter in
            if letter.isUppercase, !name.isEmpty { name += "-" }
            name += letter.lowercased()
        }
    }

    /// Returns the setting with a name, either with dashes or as on the bus; case is ignored.
    package static func setting(_ name: String) -> Setting? {
        let name = name.lowercased()
        return Setting.allCases.first { text($0) == name || $0.rawValue.lowercased() == name }
    }

    /// Returns the valid values of a setting, as in "speed-limit is …".
    package static func range(of setting: Setting) -> String {
        switch setting.kind {
        case .number(let range):
            translated(
                "{least} to {most}",
                ["least": "\(range.lowerBound)", "most": "\(range.upperBound)"]
            )
        case .rate: translated("a rate such as 500k, 10M or 2GiB/s, or off")
        case .size: translated("a size such as 500k or 10M")
        case .days: translated("a number of days such as 30d or 4w, or forever")
        case .seconds: translated("a time such as 90s, 2h or 7d, or forever")
        case .flag: translated("on or off")
        case .folder: translated("a folder")
        case .file: translated("a file, or none")
        case .proxy:
            translated("the URL of a proxy, none for no proxy, or '' for that of the environment")
        case .hosts: translated("host names with commas between them, or none")
        case .sites: translated("host names in ASCII with commas between them, or none")
        case .types:
            translated(
                "types such as video/* and endings such as .iso, with commas between them, or none"
            )
        case .choice, .command: setting.form
        }
    }

    /// Returns the words that are values of a setting, for completions.
    package static func words(of setting: Setting) -> [String] {
        switch setting.kind {
        case .flag: ["on", "off"]
        case .choice(let words): words
        case .rate: ["off"]
        case .days, .seconds: ["forever"]
        case .file, .proxy, .hosts, .sites, .types: ["none"]
        case .number, .size, .folder, .command: []
        }
    }

    /// Reads a value; nil if it is not valid.
    package static func content(_ text: String, of setting: Setting) -> Setting.Content? {
        let content: Setting.Content? =
            switch setting.kind {
            case .number: UInt64(text).map { .number($0) }
            case .rate: Quantity.rate(text).map { .number($0) }
            case .size: Quantity.bytes(text).map { .number($0) }
            case .days: Quantity.days(text).map { .number(UInt64($0)) }
            case .seconds: Quantity.seconds(text).map { .number($0) }
            case .flag: flag(text).map { .flag($0) }
            case .folder: .text(text)
            case .file, .hosts: .text(text.isEmpty || isNone(text) ? nil : text)
            case .proxy: .text(isNone(text) ? "" : text.isEmpty ? nil : text)
            case .choice: .text(text.lowercased())
            case .sites, .types: .words(list(text))
            case .command: nil
            }
        return content.flatMap { setting.allows($0) ? $0 : nil }
    }

    /// Returns what is wrong with a text that is no value of a setting, to stand behind its name.
    package static func mistake(in text: String, for setting: Setting) -> String {
        let form = setting.formMissed(by: .words(list(text)))
        return form == setting.form ? "is \(range(of: setting))" : "must be \(form)"
    }

    /// Returns a value as text that ``content(_:of:)`` reads back; empty if it is unset.
    ///
    /// The text is the value itself; a terminal must not get all of its characters.
    package static func text(of content: Setting.Content, _ setting: Setting) -> String {
        switch (content, setting.kind) {
        case (.number(0), .days): translated("forever")
        case (.number(let days), .days): "\(days)d"
        case (.number(let seconds), .seconds): Quantity.text(ofSeconds: seconds)
        case (.number(let rate), .rate): Quantity.text(ofRate: rate)
        case (.number(let size), .size): Quantity.text(ofBytes: size)
        case (.number(let number), _): "\(number)"
        case (.flag(let flag), _): flag ? "on" : "off"
        case (.text(""), .proxy): translated("none")
        case (.text(let text), _): text ?? ""
        case (.words([]), _): ""
        case (.words(let words), .sites), (.words(let words), .types): words.joined(separator: ",")
        case (.words, _): json(content)
        }
    }

    private static func json(_ content: Setting.Content) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return (try? encoder.encode(content)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// The settings that can be set and their values, for the help.
    package static var documentation: String {
        Setting.allCases.filter { !$0.isReadOnly }
            .map { "  \(text($0)): \(range(of: $0))" }.joined(separator: "\n")
    }

    private static func list(_ text: String) -> [String] {
        guard !text.isEmpty, !isNone(text) else { return [] }
        return text.split(separator: ",", omittingEmptySubsequences: false).map { word in
            String(word.drop { $0 == " " })
        }
    }

    private static func isNone(_ text: String) -> Bool {
        ["none", translated("none")].contains(text.lowercased())
    }

    private static func flag(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "on", "yes", "true", "1": true
        case "off", "no", "false", "0": false
        default: nil
        }
    }
}

/// The service program's report on the settings file: lines with a key, a tab and a text.
package struct SettingsFileReport: Hashable, Sendable {
    /// The path of the file, which need not exist.
    package let path: String
    /// The mistakes in the file, one sentence each; the service ignores a file with a mistake.
    package let mistakes: [String]
    /// The mistakes for which downloads fail, one sentence each; the service takes the file.
    package let failures: [String]
    /// Keys in the file that have no effect, a sentence each.
    package let notes: [String]
    /// Whether downloads wait until the file is mended.
    package let holdsDownloads: Bool
    /// The values in force, without passwords.
    package let values: [Setting: Setting.Content]

    /// Reads the report; nil if it has no path.
    package init?(_ report: String) {
        var path: String?
        var (mistakes, failures, notes): ([String], [String], [String]) = ([], [], [])
        var holdsDownloads = false
        var values: [Setting: Setting.Content] = [:]
        for line in report.split(separator: "\n") {
            let parts = line.split(separator: "\t", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { continue }
            switch parts[0] {
            case "path": path = parts[1]
            case "mistake": mistakes.append(parts[1])
            case "fail": failures.append(parts[1])
            case "note": notes.append(parts[1])
            case "hold": holdsDownloads = true
            default:
                guard let setting = Setting(rawValue: parts[0]) else { continue }
                let json = Data(parts[1].utf8)
                values[setting] =
                    parts[1] == "null"
                    ? setting.usual
                    : try? JSONDecoder().decode(Setting.Content.self, from: json)
            }
        }
        guard let path else { return nil }
        self.path = path
        self.mistakes = mistakes
        self.failures = failures
        self.notes = notes
        self.holdsDownloads = holdsDownloads
        self.values = values
    }
}

/// The settings as a JSON object; its keys are the names on the bus and in the settings file.
package struct SettingsJSON: Encodable, Sendable {
    private let settings: [(setting: Setting, content: Setting.Content)]

    /// Creates the object.
    package init(_ settings: [(setting: Setting, content: Setting.Content)]) {
        self.settings = settings
    }

    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        for (setting, content) in settings {
            try object.encode(content, forKey: Key(stringValue: setting.rawValue))
        }
    }

    private struct Key: CodingKey {
        let stringValue: String

        init(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }

        var intValue: Int? { nil }
    }
}
