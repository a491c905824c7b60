// SPDX-License-Identifier: Apache-2.0

internal import DBus

extension ManagerError {
    /// Converts the error of a call; if no service answered, the text says what the user can do.
    init(received error: BusError) {
        let plain = ManagerError(error)
        switch plain.code {
        case .serviceUnknown:
            self.init(
                .serviceUnknown,
                "The download service is not installed. Install the package idown, or start"
                    + " idownd."
            )
        case .noReply:
            self.init(
                .noReply,
                "The download service did not answer. Look at its log with `idown service logs`, or"
                    + " start it anew with `idown service restart`."
            )
        case .disconnected:
            self.init(
                .disconnected,
                "The session bus went away. Try again after the next login."
            )
        case nil where error.name.rawValue.hasPrefix("org.freedesktop.DBus.Error.Spawn."):
            let text = "The download service cannot be started: \(error.message)"
            self.init(BusError(error.name, text + Self.meaning(ofEnd: error.message)))
        case .some, nil:
            self = plain
        }
    }

    /// Explains the service's exit status, because the bus only reports the number.
    private static func meaning(ofEnd text: String) -> String {
        if text.hasSuffix(" exited with status 74") {
            return ". The list of downloads cannot be opened: see `idown doctor`, and"
                + " `idown service logs`."
        }
        if text.hasSuffix(" exited with status 75") {
            return
                ". The service of another session has the list of downloads open: end that session."
        }
        return ""
    }
}
