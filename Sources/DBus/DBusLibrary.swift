// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// The C library libdbus that this module runs on.
public enum DBusLibrary {
    /// The version of libdbus in this process, for example `1.14.10`, from `dbus_get_version`.
    public static var version: String {
        var (major, minor, micro): (CInt, CInt, CInt) = (0, 0, 0)
        dbus_get_version(&major, &minor, &micro)
        return "\(major).\(minor).\(micro)"
    }
}
