// SPDX-License-Identifier: Apache-2.0

/// What the bus answered to a request for a name: D-Bus specification, "RequestName".
public enum NameReply: Hashable, Sendable {
    /// The name is now this connection's.
    case primaryOwner
    /// Somebody else has it and keeps it.
    case exists
    /// It was this connection's already.
    case alreadyOwner
}

extension Connection {
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
        switch try await callBus("RequestName", [.string(name.rawValue), .uint32(flags)]).first {
        case .uint32(1): return .primaryOwner
        case .uint32(3): return .exists
        case .uint32(4): return .alreadyOwner
        case let other:
            throw .inconsistentMessage(
                "The bus answered RequestName with \(String(describing: other))."
            )
        }
    }

    /// Gives a well-known name back; giving back what is not owned is no error.
    public func releaseName(_ name: BusName) async throws(BusError) {
        _ = try await callBus("ReleaseName", [.string(name.rawValue)])
    }

    /// The unique name of the connection that owns a name.
    ///
    /// - Throws: `org.freedesktop.DBus.Error.NameHasNoOwner`.
    public func owner(of name: BusName) async throws(BusError) -> BusName {
        let results = try await callBus("GetNameOwner", [.string(name.rawValue)])
        guard case .string(let text) = results.first, let owner = try? BusName(validating: text)
        else { throw .inconsistentMessage("The bus answered GetNameOwner without a name.") }
        return owner
    }

    /// Whether the bus knows how to start the owner of a name: "ListActivatableNames".
    public func isActivatable(_ name: BusName) async throws(BusError) -> Bool {
        guard case .array(_, let names) = try await callBus("ListActivatableNames", []).first
        else { throw .inconsistentMessage("The bus answered ListActivatableNames without a list.") }
        return names.contains(.string(name.rawValue))
    }

    /// The process of the connection that owns a name: D-Bus specification,
    /// "GetConnectionUnixProcessID".
    ///
    /// - Throws: `org.freedesktop.DBus.Error.NameHasNoOwner`; `UnixProcessIdUnknown`.
    public func processID(of name: BusName) async throws(BusError) -> UInt32 {
        let results = try await callBus(
            "GetConnectionUnixProcessID",
            [.string(name.rawValue)]
        )
        guard case .uint32(let process) = results.first else {
            throw .inconsistentMessage(
                "The bus answered GetConnectionUnixProcessID without a number."
            )
        }
        return process
    }

    /// The id of this run of the bus, the same for all who are on it: "GetId".
    public func busID() async throws(BusError) -> String {
        guard case .string(let id) = try await callBus("GetId", []).first else {
            throw .inconsistentMessage("The bus answered GetId without a string.")
        }
        return id
    }

    /// Calls a method of the bus itself.
    func callBus(
        _ member: MemberName,
        _ arguments: [Value]
    ) async throws(BusError) -> [Value] {
        try await call(.bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", member, arguments)
    }
}
