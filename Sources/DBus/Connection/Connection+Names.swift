// SPDX-License-Identifier: Apache-2.0

/// A change of a bus name's owner: D-Bus specification, "NameOwnerChanged".
public struct NameOwnerChange: Hashable, Sendable {
    /// The name: well-known, or the unique name of a connection that joined or left the bus.
    public let name: BusName
    /// The connection that owned the name before; nil if there was none.
    public let oldOwner: BusName?
    /// The connection that owns the name now; nil if there is none.
    public let newOwner: BusName?
    /// When the connection received the signal, which may be long before it is read.
    public let received: ContinuousClock.Instant

    private static let signal = Signal<String, String, String>(
        "org.freedesktop.DBus",
        "NameOwnerChanged",
        arguments: ["name", "old_owner", "new_owner"]
    )

    /// Decodes a signal; nil if the signal is not NameOwnerChanged from the bus.
    init?(_ message: SignalMessage) {
        guard message.sender == .bus,
            let (name, oldOwner, newOwner) = Self.signal.contents(of: message),
            let name = try? BusName(validating: name)
        else { return nil }
        self.name = name
        self.oldOwner = try? BusName(validating: oldOwner)
        self.newOwner = try? BusName(validating: newOwner)
        received = message.received
    }

    /// Returns the signal that the bus would send for a name that had no owner before.
    static func message(_ name: BusName, newOwner: BusName?) -> SignalMessage {
        SignalMessage(
            sender: .bus,
            path: "/org/freedesktop/DBus",
            interface: signal.interface,
            member: signal.member,
            body: WireReader(WireWriter(name.rawValue, "", newOwner?.rawValue ?? ""))
        )
    }
}

extension MatchRule {
    /// Returns a rule for the bus's signals about the owner of a name; nil means all names.
    ///
    /// ``NameOwnerChange`` describes what the signals carry.
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
    /// Receives the changes of a name's owner, from now on.
    ///
    /// For all names, the changes wake this process each time any program joins or leaves the bus.
    ///
    /// - Parameter name: The name; nil for all names.
    /// - Returns: The changes, without the present owner: ``Proxy/events(_:ofAllObjects:)`` also
    ///   returns that one.
    /// - Throws: The errors of ``signals(_:)``.
    public func ownerChanges(
        of name: BusName? = nil
    ) async throws(BusError) -> SignalSequence<NameOwnerChange> {
        try await subscribe(to: .ownerChanges(of: name)) { NameOwnerChange($0) }
    }

    /// Requests a well-known name; never waits in the bus's queue for the name.
    ///
    /// `replaceExisting` takes the name from an owner that allows it; `allowReplacement` lets
    /// another connection take the name from this one later.
    ///
    /// - Returns: Whether this connection owns the name; otherwise another one keeps it.
    public func requestName(
        _ name: BusName,
        replaceExisting: Bool = false,
        allowReplacement: Bool = false
    ) async throws(BusError) -> Bool {
        // DBUS_NAME_FLAG_ALLOW_REPLACEMENT, …_REPLACE_EXISTING, …_DO_NOT_QUEUE
        let flags: UInt32 = (allowReplacement ? 1 : 0) | (replaceExisting ? 2 : 0) | 4
        let reply = try await bus.call("RequestName", name.rawValue, flags, returning: UInt32.self)
        // DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER, …_ALREADY_OWNER
        return reply == 1 || reply == 4
    }

    /// Releases a well-known name; releasing a name that this connection does not own is no error.
    public func releaseName(_ name: BusName) async throws(BusError) {
        _ = try await bus.call("ReleaseName", name.rawValue, returning: UInt32.self)
    }

    /// The unique name of the connection that owns a name; nil if the name has no owner: D-Bus
    /// specification, "GetNameOwner".
    public func owner(of name: BusName) async throws(BusError) -> BusName? {
        guard let text = try await ask("GetNameOwner", about: name, String.self) else { return nil }
        guard let owner = try? BusName(validating: text) else {
            throw .inconsistentMessage("The bus answered GetNameOwner without a name.")
        }
        return owner
    }

    /// Whether the bus can start a service for a name: D-Bus specification, "ListActivatableNames".
    public func isActivatable(_ name: BusName) async throws(BusError) -> Bool {
        try await bus.call("ListActivatableNames", returning: [String].self).contains(name.rawValue)
    }

    /// The id of the process that owns a name; nil if the name has no owner: D-Bus specification,
    /// "GetConnectionUnixProcessID".
    ///
    /// - Throws: `UnixProcessIdUnknown` if the bus does not know the process.
    public func processID(of name: BusName) async throws(BusError) -> UInt32? {
        try await ask("GetConnectionUnixProcessID", about: name, UInt32.self)
    }

    /// Asks the bus about the owner of a name; nil if the name has no owner.
    private func ask<Answer: BusType>(
        _ question: MemberName,
        about name: BusName,
        _ type: Answer.Type
    ) async throws(BusError) -> Answer? {
        // The bus would say of a malformed name that nobody owns it.
        try name.check()
        do throws(BusError) {
            return try await bus.call(question, name.rawValue, returning: type)
        } catch {
            guard error.name == "org.freedesktop.DBus.Error.NameHasNoOwner" else { throw error }
            return nil
        }
    }

    /// The id of this run of the bus, the same for all of its connections: D-Bus specification,
    /// "GetId".
    public func busID() async throws(BusError) -> String {
        try await bus.call("GetId", returning: String.self)
    }

    /// A proxy for the bus itself.
    nonisolated var bus: Proxy {
        Proxy(self, .bus, "/org/freedesktop/DBus", "org.freedesktop.DBus")
    }
}
