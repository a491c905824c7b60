// SPDX-License-Identifier: Apache-2.0

/// Which message bus to connect to.
public enum BusAddress: Hashable, Sendable {
    /// The user's session bus, as `DBUS_SESSION_BUS_ADDRESS` says.
    case session
    /// The system bus.
    case system
    /// A bus at an address of the D-Bus specification's form, such as `unix:path=/run/bus`.
    case address(String)
}
