// SPDX-License-Identifier: Apache-2.0

package import DBus

/// A user's name and password for one scheme, host and port.
package struct Login: Hashable, Sendable {
    package var user: String
    package var password: String

    package init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}

/// The logins that the user keeps for servers, in the desktop's keyring.
package struct KeptLogins: Sendable {
    /// A scheme, a host and a port, and nobody else gets to see the login.
    package struct Server: Hashable, Sendable, CustomStringConvertible {
        package let description: String

        /// - Parameters:
        ///   - scheme: in small letters.
        ///   - host: in small letters.
        ///   - port: the one connected to.
        package init(scheme: String, host: String, port: Int) {
            description = "\(scheme)://\(host):\(port)"
        }
    }

    private let keyring: SecretService

    /// What tells idown's items from others, and one server's from another's.
    private static let (schema, server, user) = ("xdg:schema", "server", "user")
    private static let schemaName = "org.idown.Login"

    package init(_ keyring: SecretService) { self.keyring = keyring }

    /// The login for a server; nil where there is none that can be read without asking anybody.
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

    /// Whether something can be kept without asking anybody.
    package var isOpen: Bool {
        get async throws(BusError) { try await keyring.isOpen }
    }

    /// Keeps a login, in the place of any other for that server.
    ///
    /// - Returns: whether it is kept; not where the keyring is locked.
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
        // One with the same user has been replaced.
        for item in old where try await keyring.attributes(of: item)[Self.user] != login.user {
            try await keyring.delete(item)
        }
        return true
    }

    /// Forgets the logins for a server.
    ///
    /// - Returns: how many are forgotten, and how many are locked and stay.
    package func forget(
        _ server: Server
    ) async throws(BusError) -> (forgotten: Int, locked: Int) {
        let (deleted, locked) = try await keyring.delete(with: Self.attributes(server))
        return (deleted, locked)
    }

    private static func attributes(_ server: Server) -> [String: String] {
        [schema: schemaName, Self.server: server.description]
    }
}
