// SPDX-License-Identifier: Apache-2.0

internal import DBus

// The methods of `org.freedesktop.Application`, which desktops call.
extension ManagerClient {
    /// Adds what a person opened, all of it or nothing, into the user's download folder.
    ///
    /// - Parameter uris: URLs, `idown:` links, and `file:` URIs of local metalinks; at most
    ///   ``Contract/maximumURLs``.
    /// - Throws: `InvalidURL`, `UnsupportedScheme`, `InvalidDestination`, `StoreFailed`,
    ///   `LimitExceeded`; the text names a bad URI by its position, counted from 1.
    public func open(_ uris: [String]) async throws(ManagerError) {
        try await callApplication(Contract.Method.open, uris, Self.platformData)
    }

    /// Starts the service if it is not running, so that unfinished tasks continue.
    public func activate() async throws(ManagerError) {
        try await callApplication(Contract.Method.activate, Self.platformData)
    }

    private static var platformData: [String: Value] { [:] }
}
