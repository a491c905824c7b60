// SPDX-License-Identifier: Apache-2.0

/// A setting of the service; the raw value is its name on the bus and its key in `settings.json`.
///
/// A setting is described here and nowhere else. The properties on the bus, the judgement of the
/// settings file, and the names and values of `idown config` follow from the description; tests
/// compare the documented XML and the manual with it. To add a setting, add a case, its row, and
/// the variable of ``Settings`` that holds its value.
public enum Setting: String, CaseIterable, Hashable, Sendable {
    /// How many tasks may download at once.
    case maxConcurrentDownloads = "MaxConcurrentDownloads"
    /// How many connections a task may open unless it has its own limit.
    case maxConnectionsPerDownload = "MaxConnectionsPerDownload"
    /// The most bytes per second of all tasks together.
    case speedLimit = "SpeedLimit"
    /// The folder for downloads that name no folder.
    case downloadDirectory = "DownloadDirectory"
    /// Whether tasks wait while the network is metered.
    case holdOnMetered = "HoldOnMetered"
    /// Whether tasks wait while the battery is low.
    case holdOnLowBattery = "HoldOnLowBattery"
    /// How many days a completed task stays in the list.
    case keepCompleted = "KeepCompleted"
    /// The proxy for all transfers.
    case proxy = "Proxy"
    /// The hosts that are reached without the proxy.
    case noProxy = "NoProxy"
    /// The file of the cookies to send.
    case cookieFile = "CookieFile"
    /// Whether added, completed and failed downloads are notified.
    case notifications = "Notifications"
    /// Whether an idle computer is kept awake while something downloads.
    case stayAwake = "StayAwake"
    /// For how many seconds a download is tried without progress unless it has its own time.
    case retryFor = "RetryFor"
    /// The program that runs for every completed file.
    case whenDoneCommand = "WhenDoneCommand"
    /// Whether clients may save files below hidden folders.
    case allowHiddenFolders = "AllowHiddenFolders"
    /// Whether a finished file gets the time that the server gives.
    case useServerTime = "UseServerTime"
    /// The lowest level that is logged.
    case logLevel = "LogLevel"
    /// Whether browsers hand their downloads over.
    case browserHandOver = "BrowserHandOver"
    /// The least size in bytes of a download that a browser hands over.
    case browserLeastSize = "BrowserLeastSize"
    /// The types of files that browsers hand over; none means all.
    case browserTypes = "BrowserTypes"
    /// The types of files that browsers keep.
    case browserLeaveTypes = "BrowserLeaveTypes"
    /// The hosts whose downloads browsers hand over; none means all.
    case browserHosts = "BrowserHosts"
    /// The hosts whose downloads browsers keep.
    case browserLeaveHosts = "BrowserLeaveHosts"
    /// Whether browsers also hand over downloads of private windows.
    case browserPrivate = "BrowserPrivate"

    /// The description of the setting: the variable with its value, its kind and its place.
    var row: Row {
        switch self {
        case .maxConcurrentDownloads: Row(\.maxConcurrentDownloads, .number(1...64), .manager)
        case .maxConnectionsPerDownload: Row(\.maxConnectionsPerDownload, .number(1...16), .manager)
        case .speedLimit: Row(\.speedLimit, .rate, .manager)
        case .downloadDirectory: Row(\.downloadDirectory, .folder, .manager)
        case .holdOnMetered: Row(\.holdsOnMetered, .flag, .manager)
        case .holdOnLowBattery: Row(\.holdsOnLowBattery, .flag, .manager)
        case .keepCompleted: Row(\.keepCompleted, .days, .manager)
        case .proxy: Row(\.proxy, .proxy, isPrivate: true)
        case .noProxy: Row(\.proxyExceptions, .hosts, isPrivate: true)
        case .cookieFile: Row(\.cookieFile, .file, isPrivate: true)
        case .notifications: Row(\.notifies, .flag)
        case .stayAwake: Row(\.staysAwake, .flag)
        case .retryFor: Row(\.retryFor, .seconds)
        case .whenDoneCommand: Row(\.whenDoneCommand, .command, isReadOnly: true, isPrivate: true)
        case .allowHiddenFolders: Row(\.allowsHiddenFolders, .flag, isReadOnly: true)
        case .useServerTime: Row(\.usesServerTime, .flag)
        case .logLevel: Row(\.logLevel, .choice(["error", "warning", "notice", "info", "debug"]))
        case .browserHandOver: Row(\.browserHandOver, .flag)
        case .browserLeastSize: Row(\.browserLeastSize, .size)
        case .browserTypes: Row(\.browserTypes, .types)
        case .browserLeaveTypes: Row(\.browserLeaveTypes, .types)
        case .browserHosts: Row(\.browserHosts, .sites, isPrivate: true)
        case .browserLeaveHosts: Row(\.browserLeaveHosts, .sites, isPrivate: true)
        case .browserPrivate: Row(\.browserPrivate, .flag)
        }
    }
}

extension Setting {
    /// The kind of a setting's values.
    public enum Kind: Hashable, Sendable {
        /// A number within a range.
        case number(ClosedRange<UInt64>)
        /// A number of days; 0 means forever.
        case days
        /// A number of seconds; 0 means forever.
        case seconds
        /// Bytes per second; 0 means no limit.
        case rate
        /// A number of bytes.
        case size
        /// On or off.
        case flag
        /// The absolute path of a folder, or nil.
        case folder
        /// The absolute path of a file, or nil.
        case file
        /// The URL of a proxy; empty for no proxy; nil for the proxy of the environment.
        case proxy
        /// Host names with commas between them, or nil.
        case hosts
        /// One of some words.
        case choice([String])
        /// A program and its arguments; none for no program.
        case command
        /// Host names, each of which includes its subdomains.
        case sites
        /// MIME types such as `video/*`, and endings of file names such as `.iso`.
        case types
    }

    /// The interface that has the setting as a property.
    public enum Place: Hashable, Sendable {
        /// `org.idown.Manager1`, which every client may read.
        case manager
        /// `org.idown.Settings1`, which only the user's own programs may read.
        case settings
    }

    /// The value of a setting.
    public enum Content: Sendable {
        /// A number of tasks, connections, days, seconds, bytes, or bytes per second.
        case number(UInt64)
        /// On or off.
        case flag(Bool)
        /// A path, a URL, names or a word; nil where the user has set none.
        case text(String?)
        /// A program and its arguments, host names, or types; empty where the user has set none.
        case words([String])
    }

    /// The kind of the setting's values.
    public var kind: Kind { row.kind }

    /// The interface that has the setting as a property.
    public var place: Place { row.place }

    /// Whether only the user changes the setting, in the file.
    public var isReadOnly: Bool { row.isReadOnly }

    /// Whether a change is announced without the value, which may be a secret.
    public var isPrivate: Bool { row.isPrivate }

    /// The value that holds if the user has set none.
    public var usual: Content { Settings()[self] }

    /// The numbers that the setting may have; nil if its values are not numbers.
    public var range: ClosedRange<UInt64>? {
        switch kind {
        case .number(let range): range
        case .days, .seconds: 0...UInt64(UInt32.max)
        case .rate, .size: 0...UInt64(Int64.max)
        case .flag, .folder, .file, .proxy, .hosts, .choice, .command, .sites, .types: nil
        }
    }

    /// Returns whether the setting may have a value.
    public func allows(_ content: Content) -> Bool {
        switch (kind, content) {
        case (.flag, .flag): true
        case (.folder, .text(let path)), (.file, .text(let path)): path.map(Self.isPath) ?? true
        case (.proxy, .text(let text)), (.hosts, .text(let text)):
            text.map { Self.isText($0) && $0.utf8.count <= Self.longestText } ?? true
        case (.choice(let words), .text(let word?)): words.contains(word)
        case (.command, .words(let words)):
            (1...256).contains(words.count) && words.first != "" && words.allSatisfy(Self.isText)
        case (.sites, .words(let hosts)): Self.isShort(hosts) && hosts.allSatisfy(Self.isHost)
        case (.types, .words(let types)): Self.isShort(types) && types.allSatisfy(Self.isType)
        case (_, .number(let number)): range?.contains(number) ?? false
        default: false
        }
    }

    /// The most bytes of a proxy, and of the hosts without one: the file may have 1 MiB.
    private static let longestText = 64 << 10

    /// Returns whether a text may be an absolute path: it is shorter than PATH_MAX (limits.h).
    private static func isPath(_ text: String) -> Bool {
        text.utf8.first == UInt8(ascii: "/") && isText(text) && text.utf8.count < 4096
    }

    /// Returns whether a text has no NUL, with which the system's calls would end it.
    private static func isText(_ text: String) -> Bool { !text.utf8.contains(0) }

    /// Returns what a value must be where this one is not allowed: "BrowserHosts must be …".
    public func formMissed(by content: Content) -> String {
        guard kind == .sites || kind == .types, case .words(let words) = content,
            !Self.isShort(words)
        else { return form }
        return "shorter: its \(words.count) entries have more than 12 KiB"
    }

    /// What a value must be, as in "MaxConcurrentDownloads must be …".
    public var form: String {
        switch kind {
        case .number(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
        case .days: "a number of days from 0 to \(UInt32.max)"
        case .seconds: "a number of seconds from 0 to \(UInt32.max)"
        case .rate: "a number of bytes per second from 0 to \(Int64.max)"
        case .size: "a number of bytes from 0 to \(Int64.max)"
        case .flag: "true or false"
        case .folder, .file: "an absolute path of less than 4096 bytes"
        case .proxy: "the URL of a proxy"
        case .hosts: "host names with commas between them"
        case .choice(let words):
            words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
        case .command: "an array of 1 to 256 texts that begins with a program"
        case .sites: "an array of host names in ASCII, 12 KiB or less"
        case .types: "an array of types such as video/* and endings such as .iso, 12 KiB or less"
        }
    }
}

// Lists for browsers.
extension Setting {
    /// The most bytes of a list: all lists together fit into one message to a browser's extension.
    private static let largestList = 12 << 10

    private static func isShort(_ words: [String]) -> Bool {
        words.reduce(0) { $0 + $1.utf8.count + 3 } <= largestList
    }

    /// Returns whether a text is a host as browsers write it: ASCII, an IPv6 address in brackets.
    package static func isHost(_ text: String) -> Bool {
        guard (1...253).contains(text.utf8.count) else { return false }
        if text.hasPrefix("["), text.hasSuffix("]") {
            return text.utf8.dropFirst().dropLast().allSatisfy { isHexadecimal($0) || $0 == 0x3A }
        }
        return text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .allSatisfy { label in
                (1...63).contains(label.count)
                    && label.allSatisfy { isLetterOrDigit($0) || $0 == 0x2D || $0 == 0x5F }
            }
    }

    /// Returns whether a text is a MIME type, a whole group of them, or an ending of file names.
    private static func isType(_ text: String) -> Bool {
        if text.hasPrefix(".") {
            return (2...32).contains(text.utf8.count) && text.utf8.allSatisfy(isNameByte)
        }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return false }
        return parts[0].isRestrictedName && (parts[1] == "*" || parts[1].isRestrictedName)
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }

    /// A byte of a restricted name: RFC 6838, 4.2.
    fileprivate static func isNameByte(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || "!#$&-^_.+".utf8.contains(byte)
    }
}

extension Substring {
    /// Whether it can be one half of a MIME type: RFC 6838, 4.2.
    fileprivate var isRestrictedName: Bool {
        (1...127).contains(utf8.count) && utf8.allSatisfy(Setting.isNameByte)
    }
}

extension Setting.Content: Hashable {
    /// Compares texts by their bytes, because two encodings of one text are two file names.
    public static func == (one: Self, other: Self) -> Bool {
        switch (one, other) {
        case (.number(let one), .number(let other)): one == other
        case (.flag(let one), .flag(let other)): one == other
        case (.text(let one), .text(let other)):
            one.map { Array($0.utf8) } == other.map { Array($0.utf8) }
        case (.words(let one), .words(let other)):
            one.map { Array($0.utf8) } == other.map { Array($0.utf8) }
        default: false
        }
    }

    /// Hashes the value.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .number(let number): hasher.combine(number)
        case .flag(let flag): hasher.combine(flag)
        case .text(let text): hasher.combine(text)
        case .words(let words): hasher.combine(words)
        }
    }
}

/// The value in the settings file; null if it is unset.
extension Setting.Content: Codable {
    /// Decodes a JSON value; a null becomes a text that is unset.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .text(nil)
        } else if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? container.decode(UInt64.self) {
            self = .number(number)
        } else if let words = try? container.decode([String].self) {
            self = .words(words)
        } else {
            self = .text(try container.decode(String.self))
        }
    }

    /// Encodes a JSON value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .number(let number): try container.encode(number)
        case .flag(let flag): try container.encode(flag)
        case .text(let text): try container.encode(text)
        case .words(let words): try container.encode(words.isEmpty ? nil : words)
        }
    }
}

extension Setting {
    /// Returns a value as it may be shown: with `***` in place of a proxy's password.
    package func shown(_ content: Content) -> Content {
        guard kind == .proxy, case .text(let text?) = content else { return content }
        // By scalars: a combining mark would make another character of a separator.
        let url = text.unicodeScalars
        guard let at = url.lastIndex(of: "@") else { return content }
        let start = url.firstRange(of: "://".unicodeScalars)?.upperBound ?? url.startIndex
        guard start < at, let colon = url[start..<at].firstIndex(of: ":") else { return content }
        return .text(String(url[...colon]) + "***" + String(url[at...]))
    }

    /// Whether a value has `***` in place of a password, as ``shown(_:)`` returns it.
    package func isHidden(_ content: Content) -> Bool {
        guard kind == .proxy, case .text(let url?) = content else { return false }
        return url.contains(":***@") && shown(content) == content
    }
}
