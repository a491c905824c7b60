// SPDX-License-Identifier: Apache-2.0

internal import DBus

extension ManagerError {
    /// Whether the service could not be reached, so that the outcome of the call is unknown.
    public var isUnreachable: Bool {
        switch code {
        case .serviceUnknown, .noServer, .noReply, .disconnected: true
        case .some: false
        case nil:
            // Either the bus cannot start the service, or there is no bus (dbus-protocol.h).
            name.rawValue.hasPrefix("org.freedesktop.DBus.Error.Spawn.")
                || Self.otherUnreachable.contains(name.rawValue)
        }
    }

    private static let otherUnreachable: Set<String> = [
        "org.freedesktop.DBus.Error.AuthFailed",
        "org.freedesktop.DBus.Error.BadAddress",
        "org.freedesktop.DBus.Error.FileNotFound",
        "org.freedesktop.DBus.Error.IOError",
        "org.freedesktop.DBus.Error.NameHasNoOwner",
        "org.freedesktop.DBus.Error.NoNetwork",
        "org.freedesktop.DBus.Error.NotSupported",
        "org.freedesktop.DBus.Error.TimedOut",
        "org.freedesktop.DBus.Error.Timeout",
    ]
}
