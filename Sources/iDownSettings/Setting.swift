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

    /// Where the value of the setting is, and of which kind it is.
    var row: Row {
        switch self {
        case .maxConcurrentDownloads: Row(\.maxConcurrentDownloads, .number(1...64), .manager)
        case .maxConnectionsPerDownload:
            Row(\.maxConnectionsPerDownload, .number(1...16), .manager)
        case .speedLimit: Row(\.speedLimit, .rate, .manager)
        case .downloadDirectory: Row(\.downloadDirectory, .folder, .manager)
        case .holdOnMetered: Row(\.holdsOnMetered, .manager)
        case .holdOnLowBattery: Row(\.holdsOnLowBattery, .manager)
        case .keepCompleted: Row(\.keepCompleted, .days, .manager)
        case .proxy: Row(\.proxy, .proxy, isPrivate: true)
        case .noProxy: Row(\.proxyExceptions, .hosts, isPrivate: true)
        case .cookieFile: Row(\.cookieFile, .file, isPrivate: true)
        case .notifications: Row(\.notifies)
        case .stayAwake: Row(\.staysAwake)
        case .retryFor: Row(\.retryFor, .seconds)
        case .whenDoneCommand: Row(\.whenDoneCommand, isReadOnly: true, isPrivate: true)
        case .allowHiddenFolders: Row(\.allowsHiddenFolders, isReadOnly: true)
        case .useServerTime: Row(\.usesServerTime)
        case .logLevel: Row(\.logLevel, .choice(["error", "warning", "notice", "info", "debug"]))
        }
    }
}

extension Setting {
    /// What values a setting has.
    public enum Kind: Hashable, Sendable {
        /// A number within a range.
        case number(ClosedRange<UInt64>)
        /// A number of days; 0 means forever.
        case days
        /// A number of seconds; 0 means forever.
        case seconds
        /// Bytes per second; 0 means no limit.
        case rate
        /// On or off.
        case flag
        /// The absolute path of a folder.
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
    }

    /// The interface that has the setting as a property.
    public enum Place: Hashable, Sendable {
        /// `org.idown.Manager1`, which everybody may read.
        case manager
        /// `org.idown.Settings1`, which only the user's own programs may read.
        case settings
    }

    /// The value of a setting.
    public enum Content: Sendable {
        /// A number of tasks, connections, days, seconds, or bytes per second.
        case number(UInt64)
        /// On or off.
        case flag(Bool)
        /// A path, a URL, names or a word; nil where the user has set none.
        case text(String?)
        /// A program and its arguments; empty for no program.
        case command([String])
    }

    /// What values the setting has.
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
        case .rate: 0...UInt64(Int64.max)
        case .flag, .folder, .file, .proxy, .hosts, .choice, .command: nil
        }
    }

    /// Returns whether the setting may have a value.
    public func allows(_ content: Content) -> Bool {
        switch (kind, content) {
        case (.flag, .flag): true
        case (.folder, .text(let path?)): path.utf8.first == UInt8(ascii: "/") && Self.isText(path)
        case (.file, .text(let path)):
            path.map { $0.utf8.first == UInt8(ascii: "/") && Self.isText($0) } ?? true
        case (.proxy, .text(let text)), (.hosts, .text(let text)): text.map(Self.isText) ?? true
        case (.choice(let words), .text(let word?)): words.contains(word)
        case (.command, .command(let words)):
            (1...256).contains(words.count) && words.first != "" && words.allSatisfy(Self.isText)
        case (_, .number(let number)): range?.contains(number) ?? false
        default: false
        }
    }

    /// Returns whether a text has no NUL, with which the system's calls would end it.
    private static func isText(_ text: String) -> Bool { !text.utf8.contains(0) }

    /// What a value must be, as in "MaxConcurrentDownloads must be …".
    public var form: String {
        switch kind {
        case .number(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
        case .days: "a number of days, 0 or more"
        case .seconds: "a number of seconds, 0 or more"
        case .rate: "a number of bytes per second, 0 or more"
        case .flag: "true or false"
        case .folder, .file: "an absolute path"
        case .proxy: "the URL of a proxy"
        case .hosts: "host names with commas between them"
        case .choice(let words):
            words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
        case .command: "an array of 1 to 256 texts that begins with a program"
        }
    }
}

extension Setting.Content: Hashable {
    /// Compares texts by their bytes: two spellings of one name are two files.
    public static func == (one: Self, other: Self) -> Bool {
        switch (one, other) {
        case (.number(let one), .number(let other)): one == other
        case (.flag(let one), .flag(let other)): one == other
        case (.text(let one), .text(let other)):
            one.map { Array($0.utf8) } == other.map { Array($0.utf8) }
        case (.command(let one), .command(let other)):
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
        case .command(let words): hasher.combine(words)
        }
    }
}

/// The value as it stands in the settings file; what is unset is null.
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
            self = .command(words)
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
        case .command(let words): try container.encode(words.isEmpty ? nil : words)
        }
    }
}

extension Setting {
    /// Returns a value as it may be shown: with `***` in place of a proxy's password.
    package func shown(_ content: Content) -> Content {
        guard kind == .proxy, case .text(let url?) = content, let at = url.lastIndex(of: "@")
        else { return content }
        let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
        guard start < at, let colon = url[start..<at].firstIndex(of: ":") else { return content }
        return .text(url[...colon] + "***" + url[at...])
    }
}
