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
    /// A key is almost one that idown knows: the user probably meant that one.
    case misspeltKey(path: String, key: String, meant: String)
    case file(FileFailure)

    package var description: String {
        switch self {
        case .unreadable(let path), .invalidValue(let path, _, _), .misspeltKey(let path, _, _):
            "\(path): \(mistake)"
        case .file: mistake
        }
    }

    /// What is wrong, without the path.
    var mistake: String {
        switch self {
        case .unreadable: "the file is not a JSON object"
        case .invalidValue(_, let key, let expected): "\(key) must be \(expected)"
        case .misspeltKey(_, let key, let meant):
            "there is no setting \(SettingsFile.shown(key)); did you mean \(meant)?"
        case .file(let failure): failure.description
        }
    }
}

/// The settings that hold, and what is wrong in the file that should say them.
package struct SettingsReading: Sendable {
    /// The settings in the file, or the last good ones while anything in the file is wrong.
    ///
    /// They are the defaults if there is no file, or if the file is wrong and there are no last good
    /// settings.
    package let settings: Settings
    /// What is wrong in the file; nil if nothing is.
    package let failure: SettingsFailure?
    /// The failure, if nobody knows which proxy the user wants; nothing may be fetched meanwhile.
    ///
    /// This is so if there are no last good settings, and if the file's proxy cannot be read or is
    /// not that of the last good settings. The file is always the newer of the two: settings become
    /// the last good ones when they are read from it.
    package let unknownProxy: SettingsFailure?
    /// Keys in the file that have no effect, a sentence each.
    package let notes: [String]
    /// The content of a file without a mistake.
    fileprivate let content: [UInt8]?
}

/// The file `settings.json`: a JSON object whose keys are named like the D-Bus properties.
///
/// Users may edit it, and an older idown may read a newer one's file: unknown keys are kept as they
/// are, and have no effect. A key that is almost a known one counts as a mistake, because a
/// misspelt `Proxy` would let downloads go past the user's proxy.
///
/// A file with a mistake is not used, because a part of what the user wrote could mean something
/// other than the whole. A copy of the last good file, `settings.last`, holds in its place.
package struct SettingsFile: Sendable {
    private static let largest = 1_048_576

    /// The path of the file, which need not exist.
    package let path: String
    /// The path of the last good file's copy; nil keeps none.
    private let copyPath: String?
    private let files: Files

    /// - Parameters:
    ///   - folder: the file's folder, which the first write makes if it is missing.
    ///   - copyFolder: the folder of the last good file's copy, made in the same way; nil keeps no
    ///     copy.
    ///   - faults: makes system calls fail in tests.
    package init(folder: String, copyFolder: String? = nil, faults: FileFaults? = nil) {
        self.path = folder + "/settings.json"
        self.copyPath = copyFolder.map { $0 + "/settings.last" }
        self.files = Files(faults: faults)
    }

    /// The user's own file.
    package init(_ folders: StandardFolders) {
        self.init(folder: folders.config, copyFolder: folders.state)
    }

    /// Returns the settings that hold, and what is wrong in the file; it never writes.
    ///
    /// - Parameter lastGood: the settings that hold if the file is wrong; nil takes the copy of the
    ///   last good file.
    /// - Returns: what was read.
    package func read(lastGood: Settings? = nil) -> SettingsReading {
        var object: [String: JSONValue]?
        do {
            let bytes = try bytes()
            object = try bytes.map { bytes throws(SettingsFailure) in try self.object(in: bytes) }
            return SettingsReading(
                settings: try settings(in: object ?? [:]),
                failure: nil,
                unknownProxy: nil,
                notes: Self.notes(on: object ?? [:], besides: nil),
                content: bytes
            )
        } catch {
            let last = lastGood ?? copy
            let proxy = object.flatMap { try? self.proxy(in: $0) }
            let isKnown =
                if let last, let proxy {
                    proxy.url == last.proxy && proxy.exceptions == last.proxyExceptions
                } else {
                    false
                }
            return SettingsReading(
                settings: last ?? Settings(),
                failure: error,
                unknownProxy: isKnown ? nil : error,
                notes: Self.notes(on: object ?? [:], besides: error),
                content: nil
            )
        }
    }

    /// Keeps a copy of a good file for later starts, if it changed; the copy is durable on return.
    package func keep(_ reading: SettingsReading) throws(FileFailure) {
        try reading.content.map { content throws(FileFailure) in try keep(content) }
    }

    private func keep(_ content: [UInt8]) throws(FileFailure) {
        guard let copyPath, (try? files.read(copyPath, limit: Self.largest)) != content else {
            return
        }
        try files.makePrivateFolder(Files.parent(of: copyPath))
        try files.replace(copyPath, with: content)
    }

    /// The last good settings; nil if there are none, or if they cannot be read.
    private var copy: Settings? {
        guard let copyPath, let bytes = try? files.read(copyPath, limit: Self.largest),
            let object = try? object(in: bytes)
        else { return nil }
        return try? settings(in: object)
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
            if let bytes = try bytes() { content = try object(in: bytes) }
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
        let bytes = Array(data) + [UInt8(ascii: "\n")]
        do {
            try files.replace(target, with: bytes)
        } catch {
            throw .file(error)
        }
        // The settings are written. If the copy fails, the next reading tries again and tells.
        try? keep(bytes)
    }

    /// What is wrong in a text that is to become the settings file, a sentence each.
    ///
    /// A key that idown does not know is told as well: it has no effect, and may be misspelt.
    package static func mistakes(in bytes: [UInt8]) -> [String] {
        let file = SettingsFile(folder: "")
        var content: [String: JSONValue] = [:]
        do throws(SettingsFailure) {
            content = try file.object(in: bytes)
            _ = try file.settings(in: content)
            return notes(on: content, besides: nil)
        } catch {
            return [error.mistake] + notes(on: content, besides: error)
        }
    }

    /// Returns a sentence for each key that idown does not know, besides one that a failure names.
    private static func notes(
        on content: [String: JSONValue],
        besides failure: SettingsFailure?
    ) -> [String] {
        var unknown = Set(content.keys).subtracting(keys)
        if case .misspeltKey(_, let key, _) = failure { unknown.remove(key) }
        return unknown.sorted().prefix(100).map { "there is no setting \(shown($0))" }
    }

    /// A key as a sentence names it: short, and without control characters.
    fileprivate static func shown(_ key: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in key.unicodeScalars.prefix(64) {
            let category = scalar.properties.generalCategory
            let isText = ![.control, .lineSeparator, .paragraphSeparator].contains(category)
            scalars.append(isText ? scalar : "\u{FFFD}")
        }
        return String(scalars)
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
            (.retryFor, "\(settings.retryFor)"),
            (.whenDoneCommand, command),
            (.allowHiddenFolders, flag(settings.allowsHiddenFolders)),
            (.useServerTime, flag(settings.usesServerTime)),
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
        case retryFor = "RetryFor"
        case whenDoneCommand = "WhenDoneCommand"
        case useServerTime = "UseServerTime"
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
                Key.retryFor,
                settings.retryFor == usual.retryFor ? nil : .integer(Int64(settings.retryFor))
            ),
            (
                Key.whenDoneCommand,
                settings.whenDoneCommand.map { words in .array(words.map { .text($0) }) }
            ),
            (Key.useServerTime, flag(settings.usesServerTime, usual.usesServerTime)),
            (Key.logLevel, text(settings.logLevel, usual.logLevel)),
        ]
    }

    /// Returns the file's content; nil if there is no file.
    private func bytes() throws(SettingsFailure) -> [UInt8]? {
        do {
            return try files.read(path, limit: Self.largest)
        } catch {
            guard error.code != EFBIG else { throw .unreadable(path: path) }
            throw .file(error)
        }
    }

    private func object(in bytes: [UInt8]) throws(SettingsFailure) -> [String: JSONValue] {
        guard let json = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes)),
            case .object(let content) = json
        else { throw .unreadable(path: path) }
        return content
    }

    private func settings(in content: [String: JSONValue]) throws(SettingsFailure) -> Settings {
        var settings = Settings()
        (settings.proxy, settings.proxyExceptions) = try proxy(in: content)
        try checkSpelling(of: Key.allCases, in: content)
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
        settings.usesServerTime = try flag(content, Key.useServerTime) ?? false
        if let value = content[Key.retryFor] {
            settings.retryFor = try count(value, Key.retryFor, Settings.retryFor)
        }
        settings.whenDoneCommand = try command(content[Key.whenDoneCommand])
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

    /// Returns the proxy, and the hosts that are reached without it.
    private func proxy(
        in content: [String: JSONValue]
    ) throws(SettingsFailure) -> (url: String?, exceptions: String) {
        try checkSpelling(of: [.proxy, .noProxy], in: content)
        let exceptions = try text(
            content[Key.noProxy],
            Key.noProxy,
            "a comma-separated list of hosts"
        )
        return (try text(content[Key.proxy], Key.proxy, "the URL of a proxy"), exceptions ?? "")
    }

    /// Throws if a key is almost one of these: two letters away at most, whatever their case.
    private func checkSpelling(
        of keys: [Key],
        in content: [String: JSONValue]
    ) throws(SettingsFailure) {
        let unknown = Set(content.keys).subtracting(Self.keys).sorted()
        for word in unknown {
            guard let meant = keys.first(where: { Self.isMisspelling(word, of: $0) }) else {
                continue
            }
            throw .misspeltKey(path: path, key: word, meant: meant.rawValue)
        }
    }

    /// Returns whether two letters at most, in any case, are too many, too few, wrong, or in the
    /// place of their neighbour: the Damerau-Levenshtein distance.
    private static func isMisspelling(_ word: String, of key: Key) -> Bool {
        let (one, other) = (Array(word.lowercased()), Array(key.rawValue.lowercased()))
        guard abs(one.count - other.count) <= 2 else { return false }
        var rows = [Array(0...other.count)]
        for i in one.indices {
            var row = [i + 1]
            for j in other.indices {
                let replaced = rows[i][j] + (one[i] == other[j] ? 0 : 1)
                var least = min(replaced, rows[i][j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, one[i] == other[j - 1], one[i - 1] == other[j] {
                    least = min(least, rows[i - 1][j - 1] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[one.count][other.count] <= 2
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
        let expected = "an array of strings that begins with a program"
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
