// SPDX-License-Identifier: Apache-2.0

package import DBus

/// The logins from the URLs of a list's tasks, stored in the desktop's keyring instead of the list.
package struct KeptURLLogins: Sendable {
    private let keyring: SecretService
    /// The name of the list; it distinguishes this list's items from those of other lists.
    private let list: String

    private static let (schema, list, id) = ("xdg:schema", "list", "id")
    private static let schemaName = "org.idown.URLLogins"

    /// Creates the store of a list's logins.
    ///
    /// - Parameters:
    ///   - keyring: The keyring that stores the logins.
    ///   - list: The name of the list; it must never change.
    package init(_ keyring: SecretService, list: String) {
        self.keyring = keyring
        self.list = list
    }

    /// Whether a text can be stored without asking the user.
    package var isOpen: Bool {
        get async throws(BusError) { try await keyring.isOpen }
    }

    /// Returns the text stored under an id; nil if none can be read without asking the user.
    package func text(at id: String) async throws(BusError) -> String? {
        guard let item = try await keyring.unlockedItems(with: attributes(id)).first else {
            return nil
        }
        return String(validating: try await keyring.secret(of: item), as: UTF8.self)
    }

    /// Whether the keyring is open, and has nothing under an id.
    package func lacks(_ id: String) async throws(BusError) -> Bool {
        guard try await keyring.isOpen,
            try await keyring.unlockedItems(with: attributes(id)).isEmpty
        else { return false }
        return try await !keyring.hasLockedItems(with: attributes(id))
    }

    /// Stores a text under an id.
    ///
    /// - Returns: Whether the text was stored; false if the keyring is locked or wants to ask the
    ///   user first.
    package func keep(_ text: String, at id: String) async throws(BusError) -> Bool {
        try await keyring.keep(
            Array(text.utf8),
            label: "idown: names and passwords of downloads",
            attributes: attributes(id)
        )
    }

    /// The ids under which texts of this list are stored, except locked ones.
    package var ids: [String] {
        get async throws(BusError) {
            var ids: [String] = []
            for item in try await keyring.unlockedItems(with: attributes(nil)) {
                if let id = try await keyring.attributes(of: item)[Self.id] { ids.append(id) }
            }
            return ids
        }
    }

    /// Deletes the texts stored under an id, except locked ones.
    package func forget(_ id: String) async throws(BusError) {
        _ = try await keyring.delete(with: attributes(id))
    }

    private func attributes(_ id: String?) -> [String: String] {
        var attributes = [Self.schema: Self.schemaName, Self.list: list]
        attributes[Self.id] = id
        return attributes
    }
}
