// SPDX-License-Identifier: Apache-2.0

private import FoundationEssentials
package import iDownSettings

/// The answer to one message of the browser's extension.
package struct BrowserAnswer: Encodable, Sendable {
    private var id: Int64?
    private var ok = true
    private var error: String?
    private var message: String?
    private var task: String?
    private var rules: BrowserRules?
    private var running: UInt32?

    /// That a request was carried out.
    package static func done(_ id: Int64) -> Self { Self(id: id) }

    /// The id of the task that was handed over or confirmed.
    package static func task(_ id: Int64, _ task: String) -> Self { Self(id: id, task: task) }

    /// The rules, after a change of them.
    package static func rules(_ id: Int64, _ rules: BrowserRules) -> Self {
        Self(id: id, rules: rules)
    }

    /// The answer to `hello`.
    ///
    /// - Parameters:
    ///   - id: The request's number.
    ///   - rules: What to hand over.
    ///   - running: How many downloads are under way.
    /// - Returns: The answer.
    package static func hello(_ id: Int64, _ rules: BrowserRules, running: UInt32) -> Self {
        Self(id: id, rules: rules, running: running)
    }

    /// Why a request was not carried out.
    package static func refused(_ refusal: BrowserRefusal) -> Self {
        Self(id: refusal.id, ok: false, error: refusal.error, message: refusal.message)
    }

    /// The message with its length before it.
    package var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let json = (try? encoder.encode(self)).map { [UInt8]($0) } ?? []
        guard json.count <= NativeMessage.limit else { return Self.refused(.tooLong).bytes }
        return NativeMessage.framed(json)
    }
}

/// The rules for what the extension hands over, from the service's settings.
package struct BrowserRules: Hashable, Encodable, Sendable {
    private var isOn = true
    private var leastSize: UInt64 = 0
    private var types: [String] = []
    private var leaveTypes: [String] = []
    private var hosts: [String] = []
    private var leaveHosts: [String] = []
    private var isPrivate = false

    private enum CodingKeys: String, CodingKey {
        case isOn = "on"
        case leastSize = "least-size"
        case types
        case leaveTypes = "leave-types"
        case hosts
        case leaveHosts = "leave-hosts"
        case isPrivate = "private"
    }

    /// The rules that settings make; those that are missing have their defaults.
    package init(_ settings: [(setting: Setting, content: Setting.Content)]) {
        for setting in Setting.allCases { set(setting, setting.usual) }
        for (setting, content) in settings { set(setting, content) }
    }

    private mutating func set(_ setting: Setting, _ content: Setting.Content) {
        switch (setting, content) {
        case (.browserHandOver, .flag(let flag)): isOn = flag
        case (.browserPrivate, .flag(let flag)): isPrivate = flag
        case (.browserLeastSize, .number(let number)): leastSize = number
        case (.browserTypes, .words(let words)): types = words.map { $0.lowercased() }
        case (.browserLeaveTypes, .words(let words)): leaveTypes = words.map { $0.lowercased() }
        case (.browserHosts, .words(let words)): hosts = words.map { $0.lowercased() }
        case (.browserLeaveHosts, .words(let words)): leaveHosts = words.map { $0.lowercased() }
        default: break
        }
    }
}
