// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
package import iDownState

/// Why the settings could not be read or written.
package enum SettingsFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file is not a JSON object.
    case unreadable(path: String)
    /// A value has the wrong type or is out of range.
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

/// The file `settings.json`: a JSON object whose keys are named like the D-Bus properties.
///
/// Users may edit it, and an older idown may read a newer one's file: unknown keys are kept as they
/// are.
package struct SettingsFile: Sendable {
    private static let largest = 1_048_576

    /// The path of the file, which need not exist.
    package let path: String
    private let files: Files

    /// - Parameters:
    ///   - folder: the file's folder, which the first write makes if it is missing.
    ///   - faults: makes system calls fail in tests.
    package init(folder: String, faults: FileFaults? = nil) {
        self.path = folder + "/settings.json"
        self.files = Files(faults: faults)
    }

    /// Returns the current settings, and what is wrong with the file; it never writes.
    ///
    /// The settings are the defaults if there is no file, or if anything in the file is wrong: a
    /// part of what the user wrote could mean something other than the whole.
    package func read() -> (settings: Settings, failure: SettingsFailure?) {
        do {
            guard let content = try content() else { return (Settings(), nil) }
            return (try settings(in: content), nil)
        } catch {
            return (Settings(), error)
        }
    }

    /// Writes the settings; they are durable on return.
    ///
    /// A file that cannot be used is moved aside first, as `settings.json.broken-<date>`; its
    /// unknown keys are kept, and all others are written as they are in force. If the file is a
    /// symbolic link, the link stays, and its target is replaced.
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
            // The keys without a D-Bus property are written as they are in force too.
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
        // Settings that could not be read back must not be written.
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
        // Only the user sets these keys: they have no D-Bus property, and are not written, so that
        // they stay as they are.
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

    /// Returns the keys without a D-Bus property; the value is nil where it is the default.
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

    /// Returns the JSON object in the file; nil if there is no file.
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

    /// Returns the key's boolean value; nil if the key is missing.
    private func flag(
        _ content: [String: JSONValue],
        _ key: Key
    ) throws(SettingsFailure) -> Bool? {
        guard let value = content[key] else { return nil }
        guard case .boolean(let flag) = value else { throw invalid(key, "true or false") }
        return flag
    }

    /// Reads a program and its arguments; no shell is involved.
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

    /// Returns the key's text; nil if the key is missing or its value is null.
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
