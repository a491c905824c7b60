// SPDX-License-Identifier: Apache-2.0

package import DBus

/// The logins that were taken out of the URLs of a list of tasks, in the desktop's keyring.
package struct KeptURLLogins: Sendable {
    private let keyring: SecretService
    /// Tells the items of one list from those of another.
    private let list: String

    private static let (schema, list, id) = ("xdg:schema", "list", "id")
    private static let schemaName = "org.idown.URLLogins"

    /// - Parameters:
    ///   - keyring: where they are kept.
    ///   - list: names the list of tasks, for ever.
    package init(_ keyring: SecretService, list: String) {
        self.keyring = keyring
        self.list = list
    }

    /// Whether something can be kept without asking anybody.
    package var isOpen: Bool {
        get async throws(BusError) { try await keyring.isOpen }
    }

    /// What is kept; nil where there is none that can be read without asking anybody.
    package func text(at id: String) async throws(BusError) -> String? {
        guard let item = try await keyring.unlockedItems(with: attributes(id)).first else {
            return nil
        }
        return String(validating: try await keyring.secret(of: item), as: UTF8.self)
    }

    /// Keeps a text.
    ///
    /// - Returns: whether it is kept.
    package func keep(_ text: String, at id: String) async throws(BusError) -> Bool {
        try await keyring.keep(
            Array(text.utf8),
            label: "idown: names and passwords of downloads",
            attributes: attributes(id)
        )
    }

    /// Where something is kept for this list, as far as that is not locked.
    package var ids: [String] {
        get async throws(BusError) {
            var ids: [String] = []
            for item in try await keyring.unlockedItems(with: attributes(nil)) {
                if let id = try await keyring.attributes(of: item)[Self.id] { ids.append(id) }
            }
            return ids
        }
    }

    /// Forgets what is kept there and not locked.
    package func forget(_ id: String) async throws(BusError) {
        _ = try await keyring.delete(with: attributes(id))
    }

    private func attributes(_ id: String?) -> [String: String] {
        var attributes = [Self.schema: Self.schemaName, Self.list: list]
        attributes[Self.id] = id
        return attributes
    }
}
