// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Which message bus to connect to.
public enum BusAddress: Hashable, Sendable {
    /// The user's session bus, as `DBUS_SESSION_BUS_ADDRESS` says.
    case session
    /// The system bus.
    case system
    /// A bus at an address of the D-Bus specification's form, such as `unix:path=/run/bus`.
    case address(String)

    /// The bus at this place whenever it was started.
    ///
    /// An address may hold the id of one run of a bus, `guid=`, and libdbus then refuses any other:
    /// D-Bus specification, "Server Addresses". For the session bus of this process the address is
    /// looked up now.
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
        return server[...colon]
            + parts.filter { !$0.hasPrefix("guid=") }.joined(separator: ",")
    }
}
