// SPDX-License-Identifier: Apache-2.0

package import DBus

/// A client of the desktop's keyring: the Secret Service API, `org.freedesktop.secrets`.
///
/// Secrets cross the session bus unencrypted (the algorithm `plain`), which every keyring supports.
/// A program that can read the bus traffic could also ask the keyring itself.
package struct SecretService: Sendable {
    /// The keyring's main object.
    private let service: Proxy

    /// The bus name that every keyring claims.
    static let name: BusName = "org.freedesktop.secrets"
    /// The attribute that holds the kind of an item.
    static let schema = "xdg:schema"
    private static let collection: InterfaceName = "org.freedesktop.Secret.Collection"
    private static let item: InterfaceName = "org.freedesktop.Secret.Item"

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - connection: A connection to the session bus.
    ///   - startsService: Whether the bus may start a keyring, which may then ask for a password.
    ///   - patience: How long each call waits for its answer.
    package init(_ connection: Connection, startsService: Bool, patience: Duration) {
        service = Proxy(
            connection,
            Self.name,
            "/org/freedesktop/secrets",
            "org.freedesktop.Secret.Service",
            startsService: startsService,
            timeout: patience
        )
    }

    /// Returns the keyring's owner, now and after each change, and the property changes of all its
    /// objects, such as the lock of a collection.
    package func events() async throws(BusError) -> SignalSequence<Proxy.Event> {
        try await service.at(nil, "org.freedesktop.DBus.Properties")
            .events("PropertiesChanged", ofAllObjects: true)
    }

    /// Whether a keyring runs; reading this does not start one.
    package var isRunning: Bool {
        get async { (try? await service.owner ?? nil) != nil }
    }

    // MARK: Reading

    /// Returns the items with these attributes that can be read without asking the user.
    package func unlockedItems(
        with attributes: [String: String]
    ) async throws(BusError) -> [ObjectPath] {
        try await search(attributes).unlocked
    }

    /// Whether there are locked items with these attributes.
    package func hasLockedItems(with attributes: [String: String]) async throws(BusError) -> Bool {
        try await !search(attributes).locked.isEmpty
    }

    /// Returns the secret of an item.
    package func secret(of item: ObjectPath) async throws(BusError) -> [UInt8] {
        let answer = try await withSession { (session) async throws(BusError) in
            try await service.at(item, Self.item)
                .call("GetSecret", values: [.objectPath(session)])
        }
        guard case .structure(let members) = answer.first, members.count == 4,
            case .array(_, let bytes) = members[2]
        else { throw .inconsistentMessage("The keyring answered GetSecret without a secret.") }
        return bytes.compactMap { if case .byte(let byte) = $0 { byte } else { nil } }
    }

    /// Returns the attributes of an item.
    package func attributes(of item: ObjectPath) async throws(BusError) -> [String: String] {
        try await service.at(item, Self.item).get("Attributes")
    }

    // MARK: Changing

    /// Whether there is a default collection that is not locked.
    package var isOpen: Bool {
        get async throws(BusError) { try await openCollection() != nil }
    }

    /// Stores a secret in the default collection and replaces the item with the same attributes.
    ///
    /// - Returns: Whether the secret was stored; false if the collection is locked or missing, or
    ///   the keyring wants to ask the user first.
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
            return try await service.at(collection, Self.collection)
                .call("CreateItem", values: [properties.busValue, content, .boolean(true)])
        }
        // Any path but `/` in the second place is a prompt for the user: nothing is stored yet.
        return answer.last == .objectPath(.root)
    }

    /// Deletes all items with these attributes whose deletion does not require asking the user.
    ///
    /// - Returns: How many were deleted, how many stay because they are locked, and how many stay
    ///   because the keyring wants to ask the user, which idown never lets it do.
    package func delete(
        with attributes: [String: String]
    ) async throws(BusError) -> (deleted: Int, locked: Int, guarded: Int) {
        let (unlocked, locked) = try await search(attributes)
        var deleted = 0
        for item in unlocked where try await delete(item) { deleted += 1 }
        return (deleted, locked.count, unlocked.count - deleted)
    }

    /// Deletes an item.
    ///
    /// - Returns: Whether the item was deleted; false if the keyring wants to ask the user first.
    @discardableResult
    package func delete(_ item: ObjectPath) async throws(BusError) -> Bool {
        try await service.at(item, Self.item).call("Delete", values: []).first == .objectPath(.root)
    }

    // MARK: Calls

    /// Returns the items with these attributes.
    ///
    /// A GNOME keyring that has been locked since it started finds no items by their schema. Then
    /// this method searches for the other attributes alone, which only idown's items have.
    private func search(
        _ attributes: [String: String]
    ) async throws(BusError) -> (unlocked: [ObjectPath], locked: [ObjectPath]) {
        let found = try await items(with: attributes)
        let others = attributes.filter { $0.key != Self.schema }
        guard found.locked.isEmpty, !others.isEmpty, others.count < attributes.count else {
            return found
        }
        return (found.unlocked, try await items(with: others).locked)
    }

    private func items(
        with attributes: [String: String]
    ) async throws(BusError) -> (unlocked: [ObjectPath], locked: [ObjectPath]) {
        try await service.call(
            "SearchItems",
            attributes,
            returning: [ObjectPath].self,
            [ObjectPath].self
        )
    }

    /// Makes a call in a session, and closes the session whether the call succeeds or throws.
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
            // Closed in a separate task, because a keyring that did not answer may not answer
            // again.
            Task { await close(session) }
            throw error
        }
        await close(session)
        return answer
    }

    private func openSession() async throws(BusError) -> ObjectPath {
        try await service.call(
            "OpenSession",
            "plain",
            Value.string(""),
            returning: Value.self,
            ObjectPath.self
        ).1
    }

    private func close(_ session: ObjectPath) async {
        try? await service.at(session, "org.freedesktop.Secret.Session").call("Close")
    }

    /// Returns the default collection; nil if it does not exist or is locked.
    private func openCollection() async throws(BusError) -> ObjectPath? {
        let path = try await service.call("ReadAlias", "default", returning: ObjectPath.self)
        guard path != .root else { return nil }
        let isLocked = try await service.at(path, Self.collection).get("Locked", as: Bool.self)
        return isLocked ? nil : path
    }
}
