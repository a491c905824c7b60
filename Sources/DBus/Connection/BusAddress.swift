// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The address of a message bus to connect to.
public enum BusAddress: Hashable, Sendable {
    /// The user's session bus, whose address is in `DBUS_SESSION_BUS_ADDRESS`.
    case session
    /// The system bus.
    case system
    /// A bus at an address in the form of the D-Bus specification, such as `unix:path=/run/bus`.
    case address(String)

    /// The same address without the id of one run of the bus, so that it also reaches a restarted
    /// bus.
    ///
    /// An address may contain the id of one run of a bus, `guid=`, and libdbus then refuses any
    /// other run: D-Bus specification, "Server Addresses". For ``session``, the address is read
    /// from this process's environment each time.
    public var ofAnyRun: BusAddress {
        switch self {
        case .session:
            guard let address = getenv("DBUS_SESSION_BUS_ADDRESS") else { return self }
            return BusAddress.address(String(cString: address)).ofAnyRun
        case .system:
            return self
        case .address(let text):
            let servers = text.split(separator: ";", omittingEmptySubsequences: false)
            return .address(servers.map(Self.withoutID).joined(separator: ";"))
        }
    }

    private static func withoutID(_ server: Substring) -> String {
        guard let colon = server.firstIndex(of: ":") else { return String(server) }
        let parts = server[server.index(after: colon)...].split(separator: ",")
        return server[...colon] + parts.filter { !$0.hasPrefix("guid=") }.joined(separator: ",")
    }
}
