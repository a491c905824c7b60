// SPDX-License-Identifier: Apache-2.0

package import DBus

/// The name and password of a user on a server.
package struct Login: Hashable, Sendable {
    package var user: String
    package var password: String

    package init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}

/// The logins that the user stored for servers, in the desktop's keyring.
package struct KeptLogins: Sendable {
    /// A server, identified by scheme, host and port: a login is only used for the same three.
    package struct Server: Hashable, Sendable, CustomStringConvertible {
        package let description: String

        /// Creates a server.
        ///
        /// - Parameters:
        ///   - scheme: The scheme, in lowercase.
        ///   - host: The host, in lowercase.
        ///   - port: The port to connect to.
        package init(scheme: String, host: String, port: Int) {
            description = "\(scheme)://\(host):\(port)"
        }
    }

    private let keyring: SecretService

    /// The attributes that distinguish idown's items from other programs' items, and the items of
    /// one server from those of another.
    private static let (schema, server, user) = (SecretService.schema, "server", "user")
    private static let schemaName = "org.idown.Login"

    package init(_ keyring: SecretService) { self.keyring = keyring }

    /// Returns the login for a server; nil if none can be read without asking the user.
    package func login(for server: Server) async throws(BusError) -> Login? {
        let items = try await keyring.unlockedItems(with: Self.attributes(server))
        guard let item = items.first else { return nil }
        let attributes = try await keyring.attributes(of: item)
        let password = try await keyring.secret(of: item)
        guard let user = attributes[Self.user],
            let text = String(validating: password, as: UTF8.self)
        else { return nil }
        return Login(user: user, password: text)
    }

    /// Whether a login for a server can be read, or is locked; one that is not locked and yet cannot
    /// be read counts as none.
    package func isKept(for server: Server) async throws(BusError) -> Bool {
        if try await login(for: server) != nil { return true }
        return try await keyring.hasLockedItems(with: Self.attributes(server))
    }

    /// Whether a login can be stored without asking the user.
    package var isOpen: Bool {
        get async throws(BusError) { try await keyring.isOpen }
    }

    /// Stores a login for a server and replaces any other login for it.
    ///
    /// - Returns: Whether the login was stored; false if the keyring is locked or wants to ask the
    ///   user first.
    package func keep(_ login: Login, for server: Server) async throws(BusError) -> Bool {
        var attributes = Self.attributes(server)
        let old = try await keyring.unlockedItems(with: attributes)
        attributes[Self.user] = login.user
        let isKept = try await keyring.keep(
            Array(login.password.utf8),
            label: "idown: \(server)",
            attributes: attributes
        )
        guard isKept else { return false }
        // The keyring itself has replaced an item with the same user name.
        for item in old where try await keyring.attributes(of: item)[Self.user] != login.user {
            try await keyring.delete(item)
        }
        return true
    }

    /// Deletes the logins for a server.
    ///
    /// - Returns: How many were deleted, how many stay because they are locked, and how many stay
    ///   because the keyring wants to ask the user first.
    package func forget(
        _ server: Server
    ) async throws(BusError) -> (forgotten: Int, locked: Int, guarded: Int) {
        let (deleted, locked, guarded) = try await keyring.delete(with: Self.attributes(server))
        return (deleted, locked, guarded)
    }

    private static func attributes(_ server: Server) -> [String: String] {
        [schema: schemaName, Self.server: server.description]
    }
}
