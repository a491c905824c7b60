// SPDX-License-Identifier: Apache-2.0

/// Why the service ends by itself, with the matching exit status (sysexits.h).
struct Exit: Error {
    let status: Int32
    let message: String

    /// Another process owns the service's name on this bus; this is not an error.
    static func alreadyRunning(_ text: String) -> Exit { Exit(status: 0, message: text) }

    /// `EX_UNAVAILABLE`.
    static func noBus(_ text: String) -> Exit {
        Exit(status: 69, message: "cannot use the session bus: \(text)")
    }

    /// `EX_SOFTWARE`.
    static func failed(_ text: String) -> Exit { Exit(status: 70, message: text) }

    /// `EX_IOERR`.
    static func storeFailed(_ text: String) -> Exit { Exit(status: 74, message: text) }

    /// `EX_TEMPFAIL`.
    static func locked(_ text: String) -> Exit { Exit(status: 75, message: text) }
}
