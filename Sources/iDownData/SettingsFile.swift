// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
package import iDownSettings
package import iDownState

/// Why the settings could not be read or written.
package enum SettingsFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file is not a JSON object; `line` is where it stops being JSON, from 1 on.
    case unreadable(path: String, line: Int? = nil)
    /// The file has more than 1 MiB.
    case tooLarge(path: String)
    /// The file is a text in UTF-16 or UTF-32, in which no key that is given twice would be found.
    case notUTF8(path: String)
    /// A value has the wrong type or is out of range.
    case invalidValue(path: String, key: String, expected: String, line: Int? = nil)
    /// A key is almost one that idown knows: the user probably meant that one.
    case misspeltKey(path: String, key: String, meant: String, line: Int? = nil)
    /// The file is a symbolic link whose target does not exist.
    case leadsNowhere(path: String)
    case file(FileFailure)

    package var description: String {
        switch self {
        case .unreadable(let path, _), .tooLarge(let path), .notUTF8(let path),
            .invalidValue(let path, _, _, _), .misspeltKey(let path, _, _, _),
            .leadsNowhere(let path):
            "\(path): \(mistake)"
        case .file: mistake
        }
    }

    /// What is wrong, without the path.
    var mistake: String {
        switch self {
        case .unreadable(_, let line): "the file is not a JSON object\(Self.place(line))"
        case .tooLarge: "the file is larger than 1 MiB"
        case .notUTF8: "the file must be in UTF-8, not in UTF-16 or UTF-32"
        case .invalidValue(_, let key, let expected, let line):
            "\(key) must be \(expected)\(Self.place(line))"
        case .misspeltKey(_, let key, let meant, let line):
            "there is no setting \(SettingsFile.shown(key)); did you mean \(meant)?"
                + Self.place(line)
        case .leadsNowhere: "the link leads to a place where nothing is"
        case .file(let failure): failure.description
        }
    }

    private static func place(_ line: Int?) -> String { line.map { " (line \($0))" } ?? "" }

    /// The same failure with the line of its key.
    fileprivate func placed(by lines: JSONLines) -> SettingsFailure {
        switch self {
        case .invalidValue(let path, let key, let expected, nil):
            .invalidValue(path: path, key: key, expected: expected, line: lines.keys[key])
        case .misspeltKey(let path, let key, let meant, nil):
            .misspeltKey(path: path, key: key, meant: meant, line: lines.keys[key])
        default: self
        }
    }
}

/// The settings in force, and what is wrong in the settings file.
package struct SettingsReading: Sendable {
    /// The settings in the file, or the last good ones while anything in the file is wrong.
    ///
    /// They are the defaults if there is no file, or if the file is wrong and there are no last good
    /// settings.
    package let settings: Settings
    /// What is wrong in the file; nil if nothing is.
    package let failure: SettingsFailure?
    /// What else is wrong in the file.
    package let furtherFailures: [SettingsFailure]
    /// The failure, if it is unknown which proxy the user wants; no transfer may start meanwhile.
    ///
    /// This is so if there are no last good settings, and if the file's proxy cannot be read or is
    /// not that of the last good settings. The file is always the newer of the two: settings become
    /// the last good ones when they are read from it.
    package let unknownProxy: SettingsFailure?
    /// Keys in the file that have no effect, a sentence each.
    package let notes: [String]
    /// Whether there is no file, whose settings are the defaults.
    package let isAbsent: Bool
    /// The content of a file without mistakes, `{}` for a missing file; nil if the file has a
    /// mistake.
    fileprivate let content: [UInt8]?

    /// The failure, if it says nothing about the file and may pass; nil otherwise.
    package var passingFailure: SettingsFailure? {
        guard case .file(let error)? = failure, error.mayPass else { return nil }
        return failure
    }
}

/// The file `settings.json`: a JSON object whose keys are named like the D-Bus properties.
///
/// Users may edit it, and an older idown may read a newer one's file: unknown keys are kept as they
/// are, and have no effect. A key that is almost a known one counts as a mistake, because a
/// misspelt `Proxy` would let downloads go past the user's proxy.
///
/// A file with a mistake is not used, because a part of what the user wrote could mean something
/// other than the whole. A copy of the last good file, `settings.last`, holds in its place. No file is
/// as good as an empty object: the defaults are the last good settings then. A link that leads nowhere
/// is no such case: its target may lie in a folder that is mounted later.
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
    package init(
        folder: String,
        copyFolder: String? = nil,
        faults: (@Sendable () -> Int32?)? = nil
    ) {
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
        var lines: JSONLines?
        do throws(SettingsFailure) {
            let bytes = try bytes()
            lines = bytes.map { JSONLines($0) }
            if bytes == nil, files.endsInLink(path) { throw .leadsNowhere(path: path) }
            if let bytes, let lines { object = try self.object(in: bytes, lines) }
            return SettingsReading(
                settings: try settings(in: object ?? [:]),
                failure: nil,
                furtherFailures: [],
                unknownProxy: nil,
                notes: Self.notes(on: object ?? [:]),
                isAbsent: bytes == nil,
                content: bytes ?? Array("{}".utf8)
            )
        } catch {
            let error = lines.map { error.placed(by: $0) } ?? error
            let last = lastGood ?? copy
            let file = object.flatMap { try? self.proxy(in: $0) }
            let isKnown = [.proxy, .noProxy].allSatisfy { (setting: Setting) in
                file != nil && file?[setting] == last?[setting]
            }
            return SettingsReading(
                settings: last ?? Settings(),
                failure: error,
                furtherFailures: failures(in: object ?? [:], lines).filter { $0 != error },
                unknownProxy: isKnown ? nil : error,
                notes: Self.notes(on: object ?? [:]),
                isAbsent: false,
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
            let object = try? object(in: bytes, JSONLines(bytes))
        else { return nil }
        return try? settings(in: object)
    }

    /// Writes the settings; they are durable on return.
    ///
    /// A file that cannot be used is kept first, as `settings.json.broken-<date>`; its unknown keys
    /// are kept, and all others are written as they are in force. A file with a misspelt key stays
    /// as it is, and this throws. If the file is a
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
        var broken: [UInt8]?
        do {
            let bytes = try bytes()
            broken = bytes
            if let bytes { content = try object(in: bytes, JSONLines(bytes)) }
            _ = try self.settings(in: content)
            broken = nil
        } catch .file(let failure) {
            throw .file(failure)
        } catch {
            // All settings are written as they are in force, those of the user alone too.
            for setting in Setting.allCases {
                let isUsual = settings[setting] == setting.usual
                content[setting.rawValue] = isUsual ? nil : JSONValue(settings[setting])
            }
        }
        let file = try? self.settings(in: content)
        for setting in Setting.allCases where !setting.isReadOnly {
            // A value that the file already has stays as the user wrote it.
            guard setting.place == .manager || file?[setting] != settings[setting] else { continue }
            content[setting.rawValue] = JSONValue(settings[setting])
        }
        // Settings that could not be read back must not be written.
        _ = try self.settings(in: content)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(JSONValue.object(content)) else {
            throw .unreadable(path: path)
        }
        let bytes = Array(data) + [UInt8(ascii: "\n")]
        guard bytes.count <= Self.largest else {
            throw .file(FileFailure(operation: "write", path: target, code: EFBIG))
        }
        do {
            // A copy, so that there is a file at every moment: without one the defaults would hold,
            // and downloads go past the user's proxy.
            if let broken {
                try files.replace(
                    try BrokenFile.path(for: target, at: now, in: files),
                    with: broken
                )
            }
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
    ///
    /// - Parameters:
    ///   - bytes: the text.
    ///   - isProxy: returns whether downloads can use this value of `Proxy`.
    /// - Returns: the sentences; none for a text that may become the file.
    package static func mistakes(in bytes: [UInt8], isProxy: (String) -> Bool) -> [String] {
        let file = SettingsFile(folder: "")
        let lines = JSONLines(bytes)
        do throws(SettingsFailure) {
            let content = try file.object(in: bytes, lines)
            var failures = file.failures(in: content, lines)
            if failures.isEmpty, let settings = try? file.settings(in: content),
                let failure = file.unusable(settings.proxy, isProxy)
            {
                failures = [failure.placed(by: lines)]
            }
            return failures.map(\.mistake) + notes(on: content)
        } catch {
            return [error.mistake]
        }
    }

    /// Finds a proxy in the settings that no download can use.
    ///
    /// It is told apart from ``SettingsReading/failure``, because the settings hold nevertheless: no
    /// download goes past such a proxy.
    ///
    /// - Parameters:
    ///   - reading: what was read.
    ///   - isProxy: returns whether downloads can use this value of `Proxy`.
    /// - Returns: the mistake, for which downloads fail; nil if they can use the proxy, need none, or
    ///   wait because the file has another one than the settings in force.
    package func unusableProxy(
        in reading: SettingsReading,
        isProxy: (String) -> Bool
    ) -> SettingsFailure? {
        reading.unknownProxy == nil ? unusable(reading.settings.proxy, isProxy) : nil
    }

    private func unusable(_ proxy: String?, _ isProxy: (String) -> Bool) -> SettingsFailure? {
        guard let proxy, !isProxy(proxy) else { return nil }
        return .invalidValue(path: path, key: Setting.proxy.rawValue, expected: Setting.proxy.form)
    }

    /// Returns a sentence for each key that idown does not know and that is like none it knows.
    private static func notes(on content: [String: JSONValue]) -> [String] {
        unknown(in: content).filter { meant(by: $0, among: Setting.allCases) == nil }.prefix(100)
            .map { "there is no setting \(shown($0))" }
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

    /// Returns all settings as they may be shown, each with its value as JSON on one line.
    ///
    /// - Parameters:
    ///   - settings: those in force.
    ///   - folders: the user's; they say where downloads go if the settings do not.
    /// - Returns: the settings in order.
    package static func lines(
        of settings: Settings,
        _ folders: StandardFolders
    ) -> [(setting: Setting, json: String)] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return Setting.allCases.compactMap { setting in
            (try? encoder.encode(folders.shown(setting, of: settings)))
                .map { (setting, String(decoding: $0, as: UTF8.self)) }
        }
    }

    /// Returns the file's content; nil if there is no file.
    private func bytes() throws(SettingsFailure) -> [UInt8]? {
        do {
            return try files.read(path, limit: Self.largest)
        } catch {
            guard error.code != EFBIG else { throw .tooLarge(path: path) }
            throw .file(error)
        }
    }

    private func object(
        in bytes: [UInt8],
        _ lines: JSONLines
    ) throws(SettingsFailure) -> [String: JSONValue] {
        // JSONDecoder would read these, too. An object begins with a character of ASCII, which has a
        // zero byte in them, behind a byte order mark if any.
        if bytes.prefix(4).contains(0), bytes.contains(where: { $0 != 0 }) {
            throw .notUTF8(path: path)
        }
        guard let json = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes)),
            case .object(let content) = json
        else { throw .unreadable(path: path, line: lines.mistake) }
        // The decoder would keep one of several values, which may not be the one the user means.
        if let (key, line) = lines.repeated {
            let key = Self.shown(key)
            throw .invalidValue(path: path, key: key, expected: "given once", line: line)
        }
        return content
    }

    private func settings(in content: [String: JSONValue]) throws(SettingsFailure) -> Settings {
        let (settings, failures) = read(Setting.allCases, in: content)
        // The proxy first: its mistakes hold all downloads.
        _ = try proxy(in: content)
        if let failure = failures.first { throw failure }
        return settings
    }

    /// Returns the defaults with the proxy, and the hosts that are reached without it.
    private func proxy(in content: [String: JSONValue]) throws(SettingsFailure) -> Settings {
        let (settings, failures) = read([.proxy, .noProxy], in: content)
        if let failure = failures.first { throw failure }
        return settings
    }

    /// Returns what is wrong in a file, up to 100 mistakes.
    private func failures(
        in content: [String: JSONValue],
        _ lines: JSONLines?
    ) -> [SettingsFailure] {
        read(Setting.allCases, in: content).failures.prefix(100).map { failure in
            lines.map { failure.placed(by: $0) } ?? failure
        }
    }

    /// Returns the defaults with some settings of a file, and what is wrong with those.
    private func read(
        _ chosen: [Setting],
        in content: [String: JSONValue]
    ) -> (settings: Settings, failures: [SettingsFailure]) {
        var failures = Self.unknown(in: content).compactMap { word in
            Self.meant(by: word, among: chosen).map { meant in
                SettingsFailure.misspeltKey(path: path, key: word, meant: meant.rawValue)
            }
        }
        var settings = Settings()
        for setting in chosen {
            do throws(SettingsFailure) {
                try read(setting, in: content, into: &settings)
            } catch {
                failures.append(error)
            }
        }
        return (settings, failures)
    }

    private func read(
        _ setting: Setting,
        in content: [String: JSONValue],
        into settings: inout Settings
    ) throws(SettingsFailure) {
        guard let value = content[setting.rawValue] else { return }
        let read: Setting.Content? =
            switch (value, setting.usual) {
            case (.null, .text), (.null, .words): setting.usual
            case (.boolean(let flag), _): .flag(flag)
            case (.integer(let number), _): UInt64(exactly: number).map { .number($0) }
            case (.text(let text), _): .text(text)
            case (.array(let values), _): Self.words(values).map { .words($0) }
            case (.null, _), (.number, _), (.object, _): nil
            }
        guard let read, value == .null || setting.allows(read) else {
            throw .invalidValue(path: path, key: setting.rawValue, expected: setting.form)
        }
        settings[setting] = read
    }

    /// Returns the texts of an array; nil if anything else is in it.
    private static func words(_ values: [JSONValue]) -> [String]? {
        let words = values.compactMap { if case .text(let word) = $0 { word } else { nil } }
        return words.count == values.count ? words : nil
    }

    /// Returns the keys that idown does not know.
    private static func unknown(in content: [String: JSONValue]) -> [String] {
        Set(content.keys).subtracting(Setting.allCases.map(\.rawValue)).sorted()
    }

    /// The settings with their names in lower case.
    private static let names = Setting.allCases.map { ($0, Array($0.rawValue.lowercased())) }

    /// Returns the setting that a key is almost: two letters away at most, whatever their case.
    private static func meant(by word: String, among settings: [Setting]) -> Setting? {
        let word = Array(word.lowercased())
        return names.first { settings.contains($0) && isMisspelling(word, of: $1) }?.0
    }

    /// Returns whether two letters at most are too many, too few, wrong, or in the place of their
    /// neighbour: the Damerau-Levenshtein distance.
    private static func isMisspelling(_ one: [Character], of other: [Character]) -> Bool {
        // The distance takes hundreds of times as long, and a file may have thousands of keys.
        // Two slips bring or take four kinds of letters at most.
        abs(one.count - other.count) <= 2
            && (kinds(ofLettersIn: one) ^ kinds(ofLettersIn: other)).nonzeroBitCount <= 4
            && Spelling.slips(one, other) <= 2
    }

    /// Returns a bit for each kind of letter in a word.
    private static func kinds(ofLettersIn word: [Character]) -> UInt64 {
        word.reduce(0) { $0 | 1 &<< UInt64($1.asciiValue ?? 0) }
    }
}

extension JSONValue {
    /// The value of a setting as the file holds it; nil where the file does not name the setting.
    fileprivate init?(_ content: Setting.Content) {
        switch content {
        case .number(let number): self = .integer(Int64(clamping: number))
        case .flag(let flag): self = .boolean(flag)
        case .text(nil), .words([]): return nil
        case .text(let text?): self = .text(text)
        case .words(let words): self = .array(words.map { .text($0) })
        }
    }
}

extension StandardFolders {
    /// Returns the value of a setting as it may be shown: the download folder is always named, and a
    /// proxy's password never.
    package func shown(_ setting: Setting, of settings: Settings) -> Setting.Content {
        setting == .downloadDirectory
            ? .text(settings.downloadDirectory ?? download) : setting.shown(settings[setting])
    }
}
