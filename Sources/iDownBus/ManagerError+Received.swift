// SPDX-License-Identifier: Apache-2.0

internal import DBus

extension ManagerError {
    /// Takes the error of a call; where nobody answered, the text tells what to do.
    init(received error: BusError) {
        let plain = ManagerError(error)
        switch plain.code {
        case .serviceUnknown:
            self.init(
                .serviceUnknown,
                "the download service is not installed on this bus; start idownd, or install its"
                    + " D-Bus service file"
            )
        case .noReply:
            self.init(
                .noReply,
                "the download service did not answer; look at its log, or end idownd and try again"
            )
        case .disconnected:
            self.init(.disconnected, "the session bus went away; try again in a running session")
        case nil where error.name.rawValue.hasPrefix("org.freedesktop.DBus.Error.Spawn."):
            self.init(
                name: error.name,
                message: "the download service cannot be started: \(error.message)"
                    + Self.meaning(ofEnd: error.message)
            )
        case .some, nil:
            self = plain
        }
    }

    /// What the service says by its exit status, where the bus tells only the number.
    private static func meaning(ofEnd text: String) -> String {
        if text.hasSuffix(" exited with status 74") {
            return "; the list of downloads cannot be opened, see: idown doctor"
        }
        if text.hasSuffix(" exited with status 75") {
            return "; the service of another session has the list of downloads"
        }
        return ""
    }

    private init(name: ErrorName, message: String) {
        self.init(BusError(name, message))
    }
}
