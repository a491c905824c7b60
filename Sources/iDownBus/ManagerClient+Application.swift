// SPDX-License-Identifier: Apache-2.0

internal import DBus

// The service as desktops see it, by `org.freedesktop.Application`.
extension ManagerClient {
    /// Hands over what a person opened: URLs, `idown:` links and the URIs of local metalinks.
    ///
    /// All of them become downloads or none; they go into the user's download folder.
    public func open(_ uris: [String]) async throws(ManagerError) {
        try await callApplication(Contract.Method.open, uris, Self.platformData)
    }

    /// Starts the service if it does not run; there is nothing to show.
    public func activate() async throws(ManagerError) {
        try await callApplication(Contract.Method.activate, Self.platformData)
    }

    private static var platformData: [String: Value] { [:] }
}
