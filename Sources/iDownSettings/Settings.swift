// SPDX-License-Identifier: Apache-2.0

/// The values of all settings, with their defaults.
package struct Settings: Hashable, Sendable {
    /// How many tasks may download at the same time.
    package var maxConcurrentDownloads = 3
    /// How many connections a task may open if it has no limit of its own.
    package var maxConnectionsPerDownload = 8
    /// The speed limit for all tasks together, in bytes per second; 0 for no limit.
    package var speedLimit: Int64 = 0
    /// The folder for files that are added without one, absolute; nil means the user's XDG download
    /// folder.
    package var downloadDirectory: String?
    /// Whether downloads wait while the network is metered.
    package var holdsOnMetered = false
    /// Whether downloads wait while the battery is low.
    package var holdsOnLowBattery = false
    /// How many days a completed task stays in the list; 0 means forever.
    package var keepCompleted = 0
    /// The proxy for all transfers, in the form that curl(1) takes; empty for no proxy; nil uses
    /// the environment's.
    package var proxy: String?
    /// The hosts that are reached without the proxy, in the form of `no_proxy`; nil for none.
    package var proxyExceptions: String?
    /// A file of cookies to send, in Netscape's format, as an absolute path; nil sends none.
    package var cookieFile: String?
    /// Whether added, completed and failed downloads are notified.
    package var notifies = true
    /// Whether the computer is kept from sleeping when idle while something downloads.
    package var staysAwake = false
    /// How many seconds a download without a time of its own is tried without progress; 0 means
    /// forever.
    package var retryFor = 86_400
    /// The program, with its arguments, that runs for every completed file; empty for none.
    ///
    /// `{path}` and `{url}` in its words are replaced by the file's path and URL.
    package var whenDoneCommand: [String] = []
    /// Whether clients may save files below hidden folders, where programs keep their own files.
    package var allowsHiddenFolders = false
    /// Whether a finished file gets the modification time that the server gives.
    package var usesServerTime = false
    /// The lowest level that is logged: `error`, `warning`, `notice`, `info` or `debug`.
    package var logLevel = "info"
    /// Whether browsers hand their downloads over.
    package var browserHandOver = true
    /// The least size in bytes of a download that a browser hands over.
    package var browserLeastSize: Int64 = 1 << 20
    /// The types of files that browsers hand over; empty for all.
    package var browserTypes: [String] = []
    /// The types of files that browsers keep.
    package var browserLeaveTypes: [String] = []
    /// The hosts, with their subdomains, whose downloads browsers hand over; empty for all.
    package var browserHosts: [String] = []
    /// The hosts, with their subdomains, whose downloads browsers keep.
    package var browserLeaveHosts: [String] = []
    /// Whether browsers also hand over downloads of private windows.
    package var browserPrivate = false

    /// Creates the defaults.
    package init() {}

    /// The value of a setting; setting a value of another type does nothing.
    package subscript(setting: Setting) -> Setting.Content {
        get { setting.row.read(self) }
        set { setting.row.write(&self, newValue) }
    }
}

extension Setting {
    /// The variable that holds a setting's value, and the setting's properties.
    struct Row {
        let kind: Kind
        let place: Place
        let isReadOnly: Bool
        let isPrivate: Bool
        let read: (Settings) -> Content
        let write: (inout Settings, Content) -> Void

        init<Value: SettingValue>(
            _ path: WritableKeyPath<Settings, Value>,
            _ kind: Kind,
            _ place: Place = .settings,
            isReadOnly: Bool = false,
            isPrivate: Bool = false
        ) {
            self.kind = kind
            self.place = place
            self.isReadOnly = isReadOnly
            self.isPrivate = isPrivate
            read = { $0[keyPath: path].content }
            write = { settings, content in
                // Only an empty proxy is another value than none.
                let isUnset = content == .text("") && kind != .proxy
                guard let value = Value(isUnset ? .text(nil) : content) else { return }
                settings[keyPath: path] = value
            }
        }
    }
}

/// The type of a variable that holds a setting's value.
protocol SettingValue {
    var content: Setting.Content { get }

    /// Nil for the value of another type.
    init?(_ content: Setting.Content)
}

extension SettingValue where Self: FixedWidthInteger {
    var content: Setting.Content { .number(UInt64(clamping: self)) }

    init?(_ content: Setting.Content) {
        guard case .number(let number) = content else { return nil }
        self.init(clamping: number)
    }
}

extension Int: SettingValue {}
extension Int64: SettingValue {}

extension Bool: SettingValue {
    var content: Setting.Content { .flag(self) }

    init?(_ content: Setting.Content) {
        guard case .flag(let flag) = content else { return nil }
        self = flag
    }
}

extension String: SettingValue {
    var content: Setting.Content { .text(self) }

    init?(_ content: Setting.Content) {
        guard case .text(let text?) = content else { return nil }
        self = text
    }
}

extension String?: SettingValue {
    var content: Setting.Content { .text(self) }

    init?(_ content: Setting.Content) {
        guard case .text(let text) = content else { return nil }
        self = text
    }
}

extension [String]: SettingValue {
    var content: Setting.Content { .words(self) }

    init?(_ content: Setting.Content) {
        guard case .words(let words) = content else { return nil }
        self = words
    }
}
