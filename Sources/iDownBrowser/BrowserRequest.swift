// SPDX-License-Identifier: Apache-2.0

private import FoundationEssentials
package import iDownBus
private import iDownSettings

/// One message of the browser's extension to the native host.
///
/// It is a JSON object: `version`, an `id` that the answer repeats, `do`, and the keys of that
/// action. Unknown keys are refused by their names, so that a newer extension learns what an older
/// host does not know.
package struct BrowserRequest: Hashable, Sendable {
    /// What the extension asks for.
    package enum Action: Hashable, Sendable {
        /// Asks for the rules and the number of downloads under way.
        case hello
        /// Asks for a file whose response the browser holds.
        case handOver(url: String, HandOverOptions)
        /// Makes a hand-over an ordinary task.
        case confirm(token: String)
        /// Withdraws a hand-over.
        case withdraw(token: String)
        /// Leaves the downloads of a host to the browser from now on.
        case leave(host: String)
        /// Takes the downloads of a host again, which the user had left to the browser.
        case take(host: String)
        /// Switches hand-over on or off.
        case turn(isOn: Bool)
        /// Shows the list.
        case open
    }

    /// The one version of the messages so far.
    package static let version: Int64 = 1

    /// The number that the answer repeats.
    package let id: Int64
    package let action: Action

    /// Reads a message.
    ///
    /// - Throws: ``BrowserRefusal``, which names a key and never a value.
    package init(_ message: [UInt8]) throws(BrowserRefusal) {
        guard let fields = try? JSONDecoder().decode([String: Field].self, from: Data(message))
        else { throw BrowserRefusal(nil, .invalidOption, "the message is not a JSON object") }
        guard case .number(let id) = fields["id"] else {
            throw BrowserRefusal(nil, .invalidOption, "“id” must be a whole number")
        }
        self.id = id
        guard fields["version"] == .number(Self.version) else {
            throw BrowserRefusal(
                id,
                BrowserRefusal.version,
                "this idown speaks version \(Self.version) of the messages"
            )
        }
        do throws(ManagerError) {
            action = try Self.action(fields)
        } catch {
            throw BrowserRefusal(id, error)
        }
    }

    private static func action(_ fields: [String: Field]) throws(ManagerError) -> Action {
        var fields = Fields(fields)
        _ = fields.take("id")
        _ = fields.take("version")
        let action: Action
        switch try fields.text("do") {
        case "hello": action = .hello
        case "hand-over": action = try handOver(&fields)
        case "confirm": action = .confirm(token: try fields.text("token"))
        case "withdraw": action = .withdraw(token: try fields.text("token"))
        case "leave": action = .leave(host: try fields.host("host"))
        case "take": action = .take(host: try fields.host("host"))
        case "switch":
            guard let isOn = try fields.flag("on") else { throw Fields.wrong("on", "a flag") }
            action = .turn(isOn: isOn)
        case "open": action = .open
        case let other:
            throw ManagerError(.invalidOption, "unknown “do”: “\(Fields.shown(other))”")
        }
        try fields.refuseRest()
        return action
    }

    private static func handOver(_ fields: inout Fields) throws(ManagerError) -> Action {
        let url = try fields.text("url")
        var options = HandOverOptions(token: try fields.text("token"))
        if let status = try fields.number("status") {
            guard let status = UInt32(exactly: status) else {
                throw Fields.wrong("status", "a status of HTTP")
            }
            options.status = status
        }
        // A browser that does not know the size says -1.
        options.size = try fields.number("size").flatMap { UInt64(exactly: $0) }
        options.entityTag = try fields.filled("etag")
        options.lastModified = try fields.filled("last-modified")
        options.mimeType = try fields.filled("mime")
        options.suggestedName = try fields.filled("name")
        options.proxy = try fields.filled("proxy")
        options.isPrivate = try fields.flag("private") ?? false
        options.download.referrer = try fields.filled("referrer")
        options.download.userAgent = try fields.filled("user-agent")
        options.download.cookies = try fields.filled("cookies")
        if let languages = try fields.filled("accept-language") {
            options.download.headers = [.init(name: "Accept-Language", value: languages)]
        }
        return .handOver(url: url, options)
    }
}

/// Why a request was not carried out, in the words of the contract.
package struct BrowserRefusal: Error, Hashable, Sendable {
    /// The request's number; nil where the message has none.
    package let id: Int64?
    /// The last part of the error's name in the contract, or ``unreachable`` or ``version``.
    package let error: String
    /// What to tell people; without any value of the request.
    package let message: String

    /// The service could not be reached.
    package static let unreachable = "Unreachable"
    /// The host does not know this version of the messages.
    package static let version = "Version"

    fileprivate init(_ id: Int64?, _ error: String, _ message: String) {
        self.id = id
        self.error = error
        self.message = message
    }

    fileprivate init(_ id: Int64?, _ code: ManagerError.Code, _ message: String) {
        self.init(id, ManagerError(code, message))
    }

    /// An error of the service, or of the way to it.
    package init(_ id: Int64?, _ error: ManagerError) {
        let name = error.isUnreachable ? Self.unreachable : error.shortName
        self.init(id, name, error.message)
    }

    /// A message that is longer than the limit.
    package static let tooLong = BrowserRefusal(
        nil,
        .limitExceeded,
        "a message may have \(NativeMessage.limit >> 10) KiB"
    )
}

/// A value of a message; objects, arrays and the like are `other`.
private enum Field: Hashable, Decodable {
    case flag(Bool)
    case number(Int64)
    case text(String)
    case other

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? container.decode(Int64.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else {
            self = .other
        }
    }
}

/// The keys of a message, each taken once.
private struct Fields {
    private var rest: [String: Field]

    init(_ fields: [String: Field]) { rest = fields }

    mutating func take(_ key: String) -> Field? { rest.removeValue(forKey: key) }

    mutating func text(_ key: String) throws(ManagerError) -> String {
        guard case .text(let text) = take(key) else { throw Self.wrong(key, "a text") }
        return text
    }

    mutating func host(_ key: String) throws(ManagerError) -> String {
        let host = try text(key).lowercased()
        guard Setting.isHost(host) else { throw Self.wrong(key, "a host name in ASCII") }
        return host
    }

    /// Returns a text; nil if it is missing or empty: browsers send an empty text for none.
    mutating func filled(_ key: String) throws(ManagerError) -> String? {
        switch take(key) {
        case nil: nil
        case .text(let text): text.isEmpty ? nil : text
        default: throw Self.wrong(key, "a text")
        }
    }

    mutating func number(_ key: String) throws(ManagerError) -> Int64? {
        switch take(key) {
        case nil: nil
        case .number(let number): number
        default: throw Self.wrong(key, "a whole number")
        }
    }

    mutating func flag(_ key: String) throws(ManagerError) -> Bool? {
        switch take(key) {
        case nil: nil
        case .flag(let flag): flag
        default: throw Self.wrong(key, "true or false")
        }
    }

    func refuseRest() throws(ManagerError) {
        guard let key = rest.keys.min() else { return }
        throw ManagerError(.invalidOption, "unknown key “\(Self.shown(key))”")
    }

    static func wrong(_ key: String, _ form: String) -> ManagerError {
        ManagerError(.invalidOption, "“\(key)” must be \(form)")
    }

    /// Returns a name shortened for an error.
    static func shown(_ name: String) -> String { String(name.prefix(40)) }
}
