// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
package import iDownState

/// Why the settings could not be read or written.
package enum SettingsFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Not a JSON object.
    case unreadable(path: String)
    /// A value of the wrong type, or out of its range.
    case invalidValue(path: String, key: String, expected: String)
    case file(FileFailure)

    package var description: String {
        switch self {
        case .unreadable(let path): "\(path) is no JSON object"
        case .invalidValue(let path, let key, let expected): "\(path): \(key) must be \(expected)"
        case .file(let failure): failure.description
        }
    }
}

/// The file `settings.json`: one object, its keys named as the properties on the bus.
///
/// People may edit it, and an older idown may meet a newer one's: keys that are not known stay
/// as they are.
package struct SettingsFile: Sendable {
    private static let largest = 1_048_576

    /// The path of the file, which need not exist.
    package let path: String
    private let files: Files

    /// - Parameters:
    ///   - folder: made when first written to.
    ///   - faults: for tests.
    package init(folder: String, faults: FileFaults? = nil) {
        self.path = folder + "/settings.json"
        self.files = Files(faults: faults)
    }

    /// The settings in force, and what was wrong with the file; never writes.
    ///
    /// The defaults without a file, and as long as anything in it is wrong: half of what the user
    /// wrote could mean something else than all of it.
    package func read() -> (settings: Settings, failure: SettingsFailure?) {
        do {
            guard let content = try content() else { return (Settings(), nil) }
            return (try settings(in: content), nil)
        } catch {
            return (Settings(), error)
        }
    }

    /// Writes the settings, durable on return.
    ///
    /// A file that is wrong is moved aside first, as `settings.json.broken-<date>`; keys of it that are
    /// not known stay, and all others are as they are in force. A symbolic link stays, and leads to
    /// the new file.
    package func write(_ settings: Settings, now: WallTime) throws(SettingsFailure) {
        let target: String
        do {
            try files.makePrivateFolder(Files.parent(of: path))
            target = try files.target(of: path)
        } catch {
            throw .file(error)
        }
        var content: [String: JSONValue] = [:]
        do {
            content = try self.content() ?? [:]
            _ = try self.settings(in: content)
        } catch .file(let failure) {
            throw .file(failure)
        } catch {
            try moveAside(target, now: now)
            // What only the user sets is in force as well.
            for (key, value) in Self.usersOwn(in: settings) { content[key] = value }
        }
        content[Key.maxConcurrentDownloads] = .integer(Int64(settings.maxConcurrentDownloads))
        content[Key.maxConnectionsPerDownload] =
            .integer(Int64(settings.maxConnectionsPerDownload))
        content[Key.speedLimit] = .integer(settings.speedLimit)
        content[Key.keepCompleted] = .integer(Int64(settings.keepCompleted))
        content[Key.holdOnMetered] = .boolean(settings.holdsOnMetered)
        content[Key.holdOnLowBattery] = .boolean(settings.holdsOnLowBattery)
        content[Key.downloadDirectory] = settings.downloadDirectory.map { .text($0) }
        content[Key.allowHiddenFolders] = .boolean(settings.allowsHiddenFolders)
        // What could not be read back is not written.
        _ = try self.settings(in: content)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(JSONValue.object(content)) else {
            throw .unreadable(path: path)
        }
        do {
            try files.replace(target, with: Array(data) + [UInt8(ascii: "\n")])
        } catch {
            throw .file(error)
        }
    }

    /// What is wrong in a text that is to become the settings file, a sentence each.
    ///
    /// A key that idown does not know is told as well: it has no effect, and may be misspelt.
    package static func mistakes(in bytes: [UInt8]) -> [String] {
        guard let json = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes)),
            case .object(let content) = json
        else { return ["the file is not a JSON object"] }
        var mistakes: [String] = []
        do throws(SettingsFailure) {
            _ = try SettingsFile(folder: "").settings(in: content)
        } catch {
            guard case .invalidValue(_, let key, let expected) = error else {
                return [error.description]
            }
            mistakes.append("\(key) must be \(expected)")
        }
        let unknown = Set(content.keys).subtracting(keys).sorted()
        return mistakes + unknown.map { "there is no setting \($0)" }
    }

    /// The settings that stand for no property on the bus, as texts by their keys.
    ///
    /// A setting that is unset has no text. Texts are as in the file; a list of words is a JSON
    /// array.
    package static func texts(of settings: Settings) -> [(key: String, text: String)] {
        func flag(_ value: Bool) -> String { value ? "true" : "false" }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        let command = settings.whenDoneCommand.flatMap { try? encoder.encode($0) }
            .map { String(decoding: $0, as: UTF8.self) }
        let texts: [(Key, String?)] = [
            (.proxy, settings.proxy),
            (.noProxy, settings.proxyExceptions.isEmpty ? nil : settings.proxyExceptions),
            (.cookieFile, settings.cookieFile),
            (.notifications, flag(settings.notifies)),
            (.stayAwake, flag(settings.staysAwake)),
            (.whenDoneCommand, command),
            (.allowHiddenFolders, flag(settings.allowsHiddenFolders)),
            (.logLevel, settings.logLevel),
        ]
        return texts.compactMap { key, text in text.map { (key.rawValue, $0) } }
    }

    fileprivate enum Key: String, CaseIterable {
        case maxConcurrentDownloads = "MaxConcurrentDownloads"
        case maxConnectionsPerDownload = "MaxConnectionsPerDownload"
        case speedLimit = "SpeedLimit"
        case keepCompleted = "KeepCompleted"
        case downloadDirectory = "DownloadDirectory"
        case allowHiddenFolders = "AllowHiddenFolders"
        case holdOnMetered = "HoldOnMetered"
        case holdOnLowBattery = "HoldOnLowBattery"
        // These are the user's alone: no property on the bus stands for them, and they are never
        // written, so that they stay as they are.
        case proxy = "Proxy"
        case noProxy = "NoProxy"
        case cookieFile = "CookieFile"
        case notifications = "Notifications"
        case stayAwake = "StayAwake"
        case whenDoneCommand = "WhenDoneCommand"
        case logLevel = "LogLevel"
    }

    /// Every key that the file may have, as it is written there.
    package static var keys: [String] { Key.allCases.map(\.rawValue) }

    /// The keys that stand for no property; nil for what is as it is without a file.
    private static func usersOwn(in settings: Settings) -> [(Key, JSONValue?)] {
        let usual = Settings()
        func flag(_ value: Bool, _ usual: Bool) -> JSONValue? {
            value == usual ? nil : .boolean(value)
        }
        func text(_ value: String?, _ usual: String?) -> JSONValue? {
            value == usual ? nil : value.map { .text($0) }
        }
        return [
            (Key.proxy, text(settings.proxy, usual.proxy)),
            (Key.noProxy, text(settings.proxyExceptions, usual.proxyExceptions)),
            (Key.cookieFile, text(settings.cookieFile, usual.cookieFile)),
            (Key.notifications, flag(settings.notifies, usual.notifies)),
            (Key.stayAwake, flag(settings.staysAwake, usual.staysAwake)),
            (
                Key.whenDoneCommand,
                settings.whenDoneCommand.map { words in .array(words.map { .text($0) }) }
            ),
            (Key.logLevel, text(settings.logLevel, usual.logLevel)),
        ]
    }

    /// The object in the file; nil without a file.
    private func content() throws(SettingsFailure) -> [String: JSONValue]? {
        let bytes: [UInt8]?
        do {
            bytes = try files.read(path, limit: Self.largest)
        } catch {
            guard error.code != EFBIG else { throw .unreadable(path: path) }
            throw .file(error)
        }
        guard let bytes else { return nil }
        guard let json = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes)),
            case .object(let content) = json
        else { throw .unreadable(path: path) }
        return content
    }

    private func settings(in content: [String: JSONValue]) throws(SettingsFailure) -> Settings {
        var settings = Settings()
        if let value = content[Key.maxConcurrentDownloads] {
            settings.maxConcurrentDownloads =
                try count(value, Key.maxConcurrentDownloads, Settings.concurrentDownloads)
        }
        if let value = content[Key.maxConnectionsPerDownload] {
            settings.maxConnectionsPerDownload =
                try count(value, Key.maxConnectionsPerDownload, Settings.connectionsPerDownload)
        }
        if let value = content[Key.speedLimit] {
            guard case .integer(let limit) = value, limit >= 0 else {
                throw invalid(Key.speedLimit, "bytes a second, 0 for no limit")
            }
            settings.speedLimit = limit
        }
        if let value = content[Key.keepCompleted] {
            settings.keepCompleted =
                try count(value, Key.keepCompleted, Settings.keepCompleted)
        }
        if let value = content[Key.downloadDirectory], value != .null {
            guard case .text(let path) = value, path.hasPrefix("/"), !path.contains("\0") else {
                throw invalid(Key.downloadDirectory, "an absolute path")
            }
            settings.downloadDirectory = path
        }
        settings.allowsHiddenFolders = try flag(content, Key.allowHiddenFolders) ?? false
        settings.holdsOnMetered = try flag(content, Key.holdOnMetered) ?? false
        settings.holdsOnLowBattery = try flag(content, Key.holdOnLowBattery) ?? false
        settings.notifies = try flag(content, Key.notifications) ?? true
        settings.staysAwake = try flag(content, Key.stayAwake) ?? false
        settings.whenDoneCommand = try command(content[Key.whenDoneCommand])
        settings.proxy = try text(content[Key.proxy], Key.proxy, "the URL of a proxy")
        settings.proxyExceptions =
            try text(content[Key.noProxy], Key.noProxy, "hosts between commas") ?? ""
        let levels = ["error", "warning", "notice", "info", "debug"]
        let level = try text(content[Key.logLevel], Key.logLevel, "a level of the log") ?? "info"
        guard levels.contains(level) else {
            throw invalid(Key.logLevel, "one of \(levels.joined(separator: ", "))")
        }
        settings.logLevel = level
        settings.cookieFile = try text(content[Key.cookieFile], Key.cookieFile, "an absolute path")
        if let path = settings.cookieFile, !path.hasPrefix("/") {
            throw invalid(Key.cookieFile, "an absolute path")
        }
        return settings
    }

    /// A truth value, or nil for a key that is not there.
    private func flag(
        _ content: [String: JSONValue],
        _ key: Key
    ) throws(SettingsFailure) -> Bool? {
        guard let value = content[key] else { return nil }
        guard case .boolean(let flag) = value else { throw invalid(key, "true or false") }
        return flag
    }

    /// A program and its arguments; no shell reads them.
    private func command(_ value: JSONValue?) throws(SettingsFailure) -> [String]? {
        guard let value, value != .null else { return nil }
        let expected = "an array of texts, the first of them a program"
        guard case .array(let values) = value, (1...256).contains(values.count) else {
            throw invalid(Key.whenDoneCommand, expected)
        }
        var command: [String] = []
        for value in values {
            guard let text = try text(value, Key.whenDoneCommand, expected) else {
                throw invalid(Key.whenDoneCommand, expected)
            }
            command.append(text)
        }
        guard command.first?.isEmpty == false else { throw invalid(Key.whenDoneCommand, expected) }
        return command
    }

    /// A text, or nil for a key that is not there or null.
    private func text(
        _ value: JSONValue?,
        _ key: Key,
        _ expected: String
    ) throws(SettingsFailure) -> String? {
        guard let value, value != .null else { return nil }
        guard case .text(let text) = value, !text.contains("\0") else {
            throw invalid(key, expected)
        }
        return text
    }

    private func count(
        _ value: JSONValue,
        _ key: Key,
        _ range: ClosedRange<Int>
    ) throws(SettingsFailure) -> Int {
        guard case .integer(let number) = value, let count = Int(exactly: number),
            range.contains(count)
        else {
            throw invalid(key, "a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return count
    }

    private func invalid(_ key: Key, _ expected: String) -> SettingsFailure {
        .invalidValue(path: path, key: key.rawValue, expected: expected)
    }

    private func moveAside(_ path: String, now: WallTime) throws(SettingsFailure) {
        do {
            try files.rename(path, to: try BrokenFile.path(for: path, at: now, in: files))
        } catch {
            throw .file(error)
        }
    }
}

extension [String: JSONValue] {
    fileprivate subscript(key: SettingsFile.Key) -> JSONValue? {
        get { self[key.rawValue] }
        set { self[key.rawValue] = newValue }
    }
}
