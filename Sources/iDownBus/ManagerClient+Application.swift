// SPDX-License-Identifier: Apache-2.0

internal import DBus

// The methods of `org.freedesktop.Application`, which desktops call.
extension ManagerClient {
    /// Adds the links and metalinks that a person opened, all or none, into the download folder.
    ///
    /// - Parameter uris: URLs, `idown:` links, and `file:` URIs of local metalinks; at most
    ///   ``Contract/maximumURLs``.
    /// - Throws: `InvalidURL`, `UnsupportedScheme`, `InvalidDestination`, `StoreFailed`,
    ///   `LimitExceeded`; the text names a bad URI by its position, counted from 1.
    public func open(_ uris: [String]) async throws(ManagerError) {
        let interface = Contract.applicationInterface
        try await call(Contract.Method.open, uris, [String: Value](), of: interface)
    }

    /// Shows the list to the user, in the window if that is installed.
    ///
    /// This starts the service if it is not running, so that unfinished tasks continue.
    ///
    /// - Parameter token: An activation token, which lets the window take the focus; nil for none.
    /// - Throws: `Stopping`; an error that ``ManagerError/isUnreachable`` if there is no service.
    public func activate(token: String? = nil) async throws(ManagerError) {
        let data = token.map { [Contract.activationToken: Value.string($0)] } ?? [:]
        try await call(Contract.Method.activate, data, of: Contract.applicationInterface)
    }
}
