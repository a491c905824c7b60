// SPDX-License-Identifier: Apache-2.0

package import DBus

/// The desktop's keyring: the Secret Service API, `org.freedesktop.secrets`.
///
/// What it holds crosses the session bus as it is (the algorithm `plain`), which every keyring
/// offers: whoever may read that traffic may ask the keyring itself.
package struct SecretService: Sendable {
    private let connection: Connection
    /// Whether the bus may start a keyring that does not run.
    private let startsService: Bool
    private let patience: Duration

    /// The name that every keyring takes.
    package static let name: BusName = "org.freedesktop.secrets"
    private static let path: ObjectPath = "/org/freedesktop/secrets"
    private static let service: InterfaceName = "org.freedesktop.Secret.Service"
    private static let collection: InterfaceName = "org.freedesktop.Secret.Collection"
    private static let item: InterfaceName = "org.freedesktop.Secret.Item"
    private static let properties: InterfaceName = "org.freedesktop.DBus.Properties"

    /// - Parameters:
    ///   - connection: to the session bus.
    ///   - startsService: whether the bus may start a keyring; it may then ask for a password.
    ///   - patience: for each answer.
    package init(_ connection: Connection, startsService: Bool, patience: Duration) {
        self.connection = connection
        self.startsService = startsService
        self.patience = patience
    }

    // MARK: Reading

    /// The items that have these attributes and can be read without asking anybody.
    package func unlockedItems(
        with attributes: [String: String]
    ) async throws(BusError) -> [ObjectPath] {
        try await search(attributes).unlocked
    }

    /// What an item keeps.
    package func secret(of item: ObjectPath) async throws(BusError) -> [UInt8] {
        let answer = try await withSession { (session) async throws(BusError) in
            try await call(item, Self.item, "GetSecret", [.objectPath(session)])
        }
        guard case .structure(let members) = answer.first, members.count == 4,
            case .array(_, let bytes) = members[2]
        else { throw .inconsistentMessage("GetSecret answered no secret") }
        return bytes.compactMap { if case .byte(let byte) = $0 { byte } else { nil } }
    }

    /// The attributes of an item.
    package func attributes(of item: ObjectPath) async throws(BusError) -> [String: String] {
        let arguments = [Value.string(Self.item.rawValue), .string("Attributes")]
        let answer = try await call(item, Self.properties, "Get", arguments)
        guard case .variant(let value) = answer.first,
            let attributes = try? [String: String](busValue: value)
        else { throw .inconsistentMessage("an item has no attributes") }
        return attributes
    }

    // MARK: Changing

    /// Whether there is a default collection, and it is not locked.
    package var isOpen: Bool {
        get async throws(BusError) { try await openCollection() != nil }
    }

    /// Keeps a secret in the default collection, in the place of one with the same attributes.
    ///
    /// - Returns: whether it is kept; not where the collection is locked or there is none.
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
        // A path other than `/` in the second place would be a prompt, and nothing is kept yet.
        return answer.last == .objectPath(.root)
    }

    /// Deletes all items that have these attributes and are not locked.
    ///
    /// - Returns: how many were deleted, and how many are locked and stay.
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
        guard answer.count == 2 else { throw .inconsistentMessage("SearchItems answered no lists") }
        return (Self.paths(answer[0]), Self.paths(answer[1]))
    }

    /// Makes a call in a session, which is closed whatever comes of it: the keyring keeps each
    /// until then, and the connection may last for days.
    private func withSession(
        _ body: (ObjectPath) async throws(BusError) -> [Value]
    ) async throws(BusError) -> [Value] {
        let session = try await openSession()
        let answer: [Value]
        do throws(BusError) {
            answer = try await body(session)
        } catch {
            // One that did not answer is not waited for twice.
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
            throw .inconsistentMessage("OpenSession answered no session")
        }
        return session
    }

    private func close(_ session: ObjectPath) async {
        _ = try? await call(session, "org.freedesktop.Secret.Session", "Close", [])
    }

    /// The default collection; nil where there is none or it is locked.
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
