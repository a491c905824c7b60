// SPDX-License-Identifier: Apache-2.0

/// The sender of a call, as far as it decides what the call may do.
enum Caller: Hashable, Sendable {
    /// A program of the user's, which may do all that the user may, with the id of its desktop file
    /// or systemd unit; nil where that is unknown.
    case program(String?)
    /// An application from a sandbox, with its kind and id: `flatpak/org.example.App`.
    case application(String)
    /// A caller that could not be identified; only its connection tells it from others.
    case unknown(connection: String)

    /// The mark of the tasks that this caller adds; nil for the user's own programs.
    var owner: String? {
        switch self {
        case .program: nil
        case .application(let id): id
        case .unknown(let connection): "connection/" + connection
        }
    }

    /// The application id that the caller's tasks show (contract, `AddedBy`); nil where it is
    /// unknown.
    var applicationID: String? {
        switch self {
        case .program(let id): id
        // The id follows the kind of sandbox and a slash.
        case .application(let id): id.split(separator: "/", maxSplits: 1).last.map(String.init)
        case .unknown: nil
        }
    }

    /// Whether the contract's "Callers from a sandbox" restricts this caller.
    var isRestricted: Bool { owner != nil }
}
