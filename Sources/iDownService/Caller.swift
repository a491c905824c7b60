// SPDX-License-Identifier: Apache-2.0

/// Who a call comes from, as far as it matters for what it may do.
enum Caller: Hashable, Sendable {
    /// A program of the user's, which may do what the user may: the id of its desktop file or its
    /// systemd unit, where that is known.
    case program(String?)
    /// An application from a sandbox, by its kind and id: `flatpak/org.example.App`.
    case application(String)
    /// Nobody can tell what it is; known by its connection alone.
    case unknown(connection: String)

    /// What its tasks are marked with; nil where no mark is needed.
    var owner: String? {
        switch self {
        case .program: nil
        case .application(let id): id
        case .unknown(let connection): "connection/" + connection
        }
    }

    /// The application id that its tasks tell (contract, `AddedBy`); nil where nobody knows.
    var applicationID: String? {
        switch self {
        case .program(let id): id
        // Behind the kind of the sandbox.
        case .application(let id): id.split(separator: "/", maxSplits: 1).last.map(String.init)
        case .unknown: nil
        }
    }

    /// Whether the contract's "Callers from a sandbox" holds for it.
    var isRestricted: Bool { owner != nil }
}
