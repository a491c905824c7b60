// SPDX-License-Identifier: Apache-2.0

extension Interface {
    /// `org.freedesktop.DBus.Introspectable`, answered from the connection's table of objects.
    static let introspectable = Interface(
        "org.freedesktop.DBus.Introspectable",
        [
            .method("Introspect", .query, out: ["xml_data"]) {
                (call: Call) async throws -> Encoded<String> in
                let parts = try await call.connection.introspected(at: call.path)
                return await IntrospectionDocument.written(parts)
            }
        ]
    )

    /// `org.freedesktop.DBus.Peer`: listed for introspection; libdbus itself answers it at every
    /// path.
    static let peer = Interface(
        "org.freedesktop.DBus.Peer",
        [
            .method("Ping") { (_: Call) in },
            .method("GetMachineId", out: ["machine_uuid"]) { (_: Call) async throws -> String in
                throw BusError.failed("libdbus answers this call.")
            },
        ]
    )
}

extension Connection {
    /// Returns the introspection document of an object, or of a path that leads to one.
    ///
    /// - Throws: `UnknownObject`; the errors of a subtree's closures.
    public func introspection(at path: ObjectPath) async throws -> String {
        let (interfaces, children) = try await introspected(at: path)
        return IntrospectionDocument(interfaces, children: children).text
    }

    /// Returns the contents of a path's document: its interfaces, and the names below it.
    fileprivate func introspected(
        at path: ObjectPath
    ) async throws -> (interfaces: [Interface], children: [String]) {
        guard let object = objects.object(at: path) else {
            throw BusError.unknownObject("There is no object at \(path).")
        }
        if let subtree = objects.subtree(around: path), try await !subtree.contains(path) {
            throw BusError.unknownObject("There is no object at \(path).")
        }
        var children = objects.children(of: path)
        if let subtree = objects.subtree(below: path) { children += try await subtree.children() }
        return (object.interfaces, children)
    }
}

extension IntrospectionDocument {
    /// Writes the document on another thread, because it may contain a million names.
    @concurrent
    fileprivate static func written(
        _ parts: (interfaces: [Interface], children: [String])
    ) async -> Encoded<String> {
        let document = IntrospectionDocument(parts.interfaces, children: parts.children)
        return Encoded(WireWriter(document.text))
    }
}
