// SPDX-License-Identifier: Apache-2.0

package import DBus

/// A client of the desktop's keyring: the Secret Service API, `org.freedesktop.secrets`.
///
/// Secrets cross the session bus unencrypted (the algorithm `plain`), which every keyring offers. A
/// program that can read the traffic on the bus could also ask the keyring itself.
package struct SecretService: Sendable {
    private let connection: Connection
    /// Whether the bus may start a keyring that is not running.
    private let startsService: Bool
    private let patience: Duration

    /// The bus name that every keyring owns.
    package static let name: BusName = "org.freedesktop.secrets"
    private static let path: ObjectPath = "/org/freedesktop/secrets"
    private static let service: InterfaceName = "org.freedesktop.Secret.Service"
    private static let collection: InterfaceName = "org.freedesktop.Secret.Collection"
    private static let item: InterfaceName = "org.freedesktop.Secret.Item"
    private static let properties: InterfaceName = "org.freedesktop.DBus.Properties"

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - connection: A connection to the session bus.
    ///   - startsService: Whether the bus may start a keyring, which may then ask for a password.
    ///   - patience: How long each call waits for its answer.
    package init(_ connection: Connection, startsService: Bool, patience: Duration) {
        self.connection = connection
        self.startsService = startsService
        self.patience = patience
    }

    // MARK: Reading

    /// Returns the items that have these attributes and can be read without asking the user.
    package func unlockedItems(
        with attributes: [String: String]
    ) async throws(BusError) -> [ObjectPath] {
        try await search(attributes).unlocked
    }

    /// Returns the secret of an item.
    package func secret(of item: ObjectPath) async throws(BusError) -> [UInt8] {
        let answer = try await withSession { (session) async throws(BusError) in
            try await call(item, Self.item, "GetSecret", [.objectPath(session)])
        }
        guard case .structure(let members) = answer.first, members.count == 4,
            case .array(_, let bytes) = members[2]
        else { throw .inconsistentMessage("The keyring answered GetSecret without a secret.") }
        return bytes.compactMap { if case .byte(let byte) = $0 { byte } else { nil } }
    }

    /// Returns the attributes of an item.
    package func attributes(of item: ObjectPath) async throws(BusError) -> [String: String] {
        let arguments = [Value.string(Self.item.rawValue), .string("Attributes")]
        let answer = try await call(item, Self.properties, "Get", arguments)
        guard case .variant(let value) = answer.first,
            let attributes = try? [String: String](busValue: value)
        else { throw .inconsistentMessage("An item of the keyring has no attributes.") }
        return attributes
    }

    // MARK: Changing

    /// Whether there is a default collection that is not locked.
    package var isOpen: Bool {
        get async throws(BusError) { try await openCollection() != nil }
    }

    /// Stores a secret in the default collection and replaces the item with the same attributes.
    ///
    /// - Returns: Whether it was stored; false if the collection is locked or missing.
    package func keep(
        _ secret: [UInt8],
        label: String,
        attributes: [String: String]
    ) async throws(BusError) -> Bool {
        guard let collection = try await openCollection() else { return false }
        let properties: [String: Value] = [
            "org.freedesktop.Secret.Item.Label": .string(label),
            "org.freedesktop.Secret.Item.Attributes": attributes.busValue,
        ]
        let answer = try await withSession { (session) async throws(BusError) in
            let content = Value.structure([
                .objectPath(session), [UInt8]().busValue, secret.busValue, .string("text/plain"),
            ])
            return try await call(
                collection,
                Self.collection,
                "CreateItem",
                [properties.busValue, content, .boolean(true)]
            )
        }
        // Another path than `/` in the second place is a prompt: nothing is stored yet.
        return answer.last == .objectPath(.root)
    }

    /// Deletes all items that have these attributes and are not locked.
    ///
    /// - Returns: How many were deleted, and how many stay because they are locked.
    package func delete(
        with attributes: [String: String]
    ) async throws(BusError) -> (deleted: Int, locked: Int) {
        let (unlocked, locked) = try await search(attributes)
        for item in unlocked { try await delete(item) }
        return (unlocked.count, locked.count)
    }

    /// Deletes an item.
    package func delete(_ item: ObjectPath) async throws(BusError) {
        _ = try await call(item, Self.item, "Delete", [])
    }

    // MARK: Calls

    private func search(
        _ attributes: [String: String]
    ) async throws(BusError) -> (unlocked: [ObjectPath], locked: [ObjectPath]) {
        let answer = try await call(
            Self.path,
            Self.service,
            "SearchItems",
            [attributes.busValue]
        )
        guard answer.count == 2 else {
            throw .inconsistentMessage("The keyring answered SearchItems without lists.")
        }
        return (Self.paths(answer[0]), Self.paths(answer[1]))
    }

    /// Makes a call in a session, and closes the session in every case.
    ///
    /// The keyring keeps a session until it is closed or the connection ends, and a connection may
    /// last for days.
    private func withSession(
        _ body: (ObjectPath) async throws(BusError) -> [Value]
    ) async throws(BusError) -> [Value] {
        let session = try await openSession()
        let answer: [Value]
        do throws(BusError) {
            answer = try await body(session)
        } catch {
            // In a task of its own, because a keyring that did not answer may not answer again.
            Task { await close(session) }
            throw error
        }
        await close(session)
        return answer
    }

    private func openSession() async throws(BusError) -> ObjectPath {
        let arguments = [Value.string("plain"), .variant(.string(""))]
        let answer = try await call(Self.path, Self.service, "OpenSession", arguments)
        guard case .objectPath(let session) = answer.last else {
            throw .inconsistentMessage("The keyring answered OpenSession without a session.")
        }
        return session
    }

    private func close(_ session: ObjectPath) async {
        _ = try? await call(session, "org.freedesktop.Secret.Session", "Close", [])
    }

    /// Returns the default collection; nil if there is none or it is locked.
    private func openCollection() async throws(BusError) -> ObjectPath? {
        let alias = try await call(Self.path, Self.service, "ReadAlias", [.string("default")])
        guard case .objectPath(let path) = alias.first, path != .root else { return nil }
        let arguments = [Value.string(Self.collection.rawValue), .string("Locked")]
        let locked = try await call(path, Self.properties, "Get", arguments)
        return locked.first == .variant(.boolean(false)) ? path : nil
    }

    private func call(
        _ path: ObjectPath,
        _ interface: InterfaceName,
        _ member: MemberName,
        _ arguments: [Value]
    ) async throws(BusError) -> [Value] {
        try await connection.call(
            Self.name,
            path,
            interface,
            member,
            arguments,
            timeout: patience,
            startService: startsService
        )
    }

    private static func paths(_ value: Value) -> [ObjectPath] {
        guard case .array(_, let elements) = value else { return [] }
        return elements.compactMap { if case .objectPath(let path) = $0 { path } else { nil } }
    }
}
