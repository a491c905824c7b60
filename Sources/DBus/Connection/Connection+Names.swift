// SPDX-License-Identifier: Apache-2.0

/// What the bus answered to a request for a name: D-Bus specification, "RequestName".
public enum NameReply: Hashable, Sendable {
    /// The name is now this connection's.
    case primaryOwner
    /// Somebody else has it and keeps it.
    case exists
    /// It was this connection's already.
    case alreadyOwner

    fileprivate init(_ answer: UInt32) throws(BusError) {
        switch answer {
        case 1: self = .primaryOwner
        case 3: self = .exists
        case 4: self = .alreadyOwner
        default: throw .inconsistentMessage("The bus answered RequestName with \(answer).")
        }
    }
}

/// A name on the bus has another owner: D-Bus specification, "NameOwnerChanged".
public struct NameOwnerChange: Hashable, Sendable {
    /// A well-known name, or the unique name of a connection that came or left.
    public let name: BusName
    /// Whose it was; nil if nobody's.
    public let oldOwner: BusName?
    /// Whose it is; nil if nobody's.
    public let newOwner: BusName?

    private static let signal = Signal<String, String, String>(
        "org.freedesktop.DBus",
        "NameOwnerChanged",
        arguments: ["name", "old_owner", "new_owner"]
    )

    /// Nil for any other signal.
    init?(_ message: SignalMessage) {
        guard message.sender == .bus,
            let (name, oldOwner, newOwner) = Self.signal.contents(of: message),
            let name = try? BusName(validating: name)
        else { return nil }
        self.name = name
        self.oldOwner = try? BusName(validating: oldOwner)
        self.newOwner = try? BusName(validating: newOwner)
    }

    /// The signal as the bus would send it for a name that had no owner.
    static func message(_ name: BusName, newOwner: BusName?) -> SignalMessage {
        SignalMessage(
            sender: .bus,
            path: "/org/freedesktop/DBus",
            interface: signal.interface,
            member: signal.member,
            arguments: [
                .string(name.rawValue), .string(""), .string(newOwner?.rawValue ?? ""),
            ]
        )
    }
}

extension MatchRule {
    /// The bus's own signals of who owns a name, or all names; ``NameOwnerChange`` says what they
    /// carry.
    public static func ownerChanges(of name: BusName?) -> MatchRule {
        MatchRule(
            sender: .bus,
            interface: "org.freedesktop.DBus",
            member: "NameOwnerChanged",
            arguments: name.map { [0: $0.rawValue] } ?? [:]
        )
    }
}

extension Connection {
    /// Receives the changes of who owns a name, from now on.
    ///
    /// Of all names these wake this process up each time any program comes to the bus or leaves it.
    ///
    /// - Parameter name: The name; nil for all names.
    /// - Returns: The changes; a name's owner of now is not among them, see ``Proxy/events(_:ofAllObjects:)``.
    /// - Throws: What ``signals(_:)`` throws.
    public func ownerChanges(
        of name: BusName? = nil
    ) async throws(BusError) -> SignalSequence<NameOwnerChange> {
        try await subscribe(to: .ownerChanges(of: name)) { NameOwnerChange($0) }
    }

    /// Asks for a well-known name; never waits in the queue for it.
    ///
    /// `replaceExisting` takes it from an owner who allows that; `allowReplacement` lets another
    /// connection take it from this one.
    public func requestName(
        _ name: BusName,
        replaceExisting: Bool = false,
        allowReplacement: Bool = false
    ) async throws(BusError) -> NameReply {
        // DBUS_NAME_FLAG_ALLOW_REPLACEMENT, …_REPLACE_EXISTING, …_DO_NOT_QUEUE
        let flags: UInt32 = (allowReplacement ? 1 : 0) | (replaceExisting ? 2 : 0) | 4
        return try NameReply(
            await bus.call("RequestName", name.rawValue, flags, returning: UInt32.self)
        )
    }

    /// Gives a well-known name back; giving back what is not owned is no error.
    public func releaseName(_ name: BusName) async throws(BusError) {
        _ = try await bus.call("ReleaseName", name.rawValue, returning: UInt32.self)
    }

    /// The unique name of the connection that owns a name; nil if nobody does: "GetNameOwner".
    public func owner(of name: BusName) async throws(BusError) -> BusName? {
        guard let text = try await ask("GetNameOwner", about: name, String.self) else { return nil }
        guard let owner = try? BusName(validating: text) else {
            throw .inconsistentMessage("The bus answered GetNameOwner without a name.")
        }
        return owner
    }

    /// Whether the bus knows how to start the owner of a name: "ListActivatableNames".
    public func isActivatable(_ name: BusName) async throws(BusError) -> Bool {
        try await bus.call("ListActivatableNames", returning: [String].self).contains(name.rawValue)
    }

    /// The process of the connection that owns a name; nil if nobody does: D-Bus specification,
    /// "GetConnectionUnixProcessID".
    ///
    /// - Throws: `UnixProcessIdUnknown`.
    public func processID(of name: BusName) async throws(BusError) -> UInt32? {
        try await ask("GetConnectionUnixProcessID", about: name, UInt32.self)
    }

    /// Asks the bus about the owner of a name; nil if nobody owns the name.
    private func ask<Answer: BusType>(
        _ question: MemberName,
        about name: BusName,
        _ type: Answer.Type
    ) async throws(BusError) -> Answer? {
        do throws(BusError) {
            return try await bus.call(question, name.rawValue, returning: type)
        } catch {
            guard error.name == "org.freedesktop.DBus.Error.NameHasNoOwner" else { throw error }
            return nil
        }
    }

    /// The id of this run of the bus, the same for all who are on it: "GetId".
    public func busID() async throws(BusError) -> String {
        try await bus.call("GetId", returning: String.self)
    }

    /// The bus itself.
    nonisolated var bus: Proxy {
        Proxy(self, .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus")
    }
}
