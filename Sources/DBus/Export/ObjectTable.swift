// SPDX-License-Identifier: Apache-2.0

/// The objects of a connection and the paths that lead to them.
///
/// Every prefix of an object's path answers Introspect, so that tools that walk the tree find the
/// objects.
struct ObjectTable {
    private var objects: [ObjectPath: ExportedObject] = [:]
    private var subtrees: [ObjectPath: Subtree] = [:]

    /// Returns what answers at a path: an object, the bare node above one, or the object that a
    /// subtree has for all of its paths; nil if nothing does.
    func object(at path: ObjectPath) -> ExportedObject? {
        if let object = objects[path] { return object }
        let isNode = path == .root || subtrees[path] != nil || !children(of: path).isEmpty
        return isNode ? .node : subtree(around: path)?.object
    }

    /// Returns the subtree that a path would be an object of; nil if there is none.
    func subtree(around path: ObjectPath) -> Subtree? {
        guard !subtrees.isEmpty, objects[path] == nil, let parent = path.parent else { return nil }
        return subtrees[parent]
    }

    /// Returns the subtree whose objects are one level below a path.
    func subtree(below path: ObjectPath) -> Subtree? { subtrees[path] }

    /// Returns the path elements one level below a path, sorted, without those of a subtree.
    func children(of path: ObjectPath) -> [String] {
        let start = path == .root ? 1 : path.rawValue.utf8.count + 1
        var names: Set<String> = []
        for node in Array(objects.keys) + subtrees.keys where node != path && node.hasPrefix(path) {
            let element = node.rawValue.utf8.dropFirst(start).prefix { $0 != UInt8(ascii: "/") }
            names.insert(String(Substring(element)))
        }
        return names.sorted()
    }

    /// Adds an object.
    ///
    /// - Throws: `ObjectPathInUse`.
    mutating func insert(_ object: ExportedObject, at path: ObjectPath) throws(BusError) {
        guard objects[path] == nil else {
            throw BusError(Self.inUse, "An object is already exported at \(path).")
        }
        objects[path] = object
    }

    /// Adds a subtree, which cannot be removed again.
    ///
    /// - Throws: `ObjectPathInUse`.
    mutating func insert(_ subtree: Subtree, below path: ObjectPath) throws(BusError) {
        guard subtrees[path] == nil else {
            throw BusError(Self.inUse, "A subtree is already exported below \(path).")
        }
        subtrees[path] = subtree
    }

    private static let inUse: ErrorName = "org.freedesktop.DBus.Error.ObjectPathInUse"

    mutating func remove(at path: ObjectPath) { objects[path] = nil }
}

/// The interfaces of one object, its own ones before the standard ones.
struct ExportedObject: Sendable {
    let interfaces: [Interface]

    /// A path that is no object itself but leads to objects.
    static let node = ExportedObject(interfaces: [.introspectable, .peer])

    /// Makes an object with interfaces of its own.
    static func object(_ interfaces: [Interface]) -> ExportedObject {
        let standard: [Interface] = [.introspectable, .peer]
        // Properties also knows the standard interfaces, which introspection shows, though they
        // have no properties.
        let properties = Interface.properties(of: interfaces + standard)
        return ExportedObject(interfaces: interfaces + [properties] + standard)
    }

    /// Returns the method for a call.
    ///
    /// - Throws: `UnknownInterface`, `UnknownMethod`.
    func method(
        _ interface: String?,
        _ member: String,
        at path: ObjectPath
    ) throws(BusError) -> (Interface, Method) {
        guard let interface else {
            // The specification allows a call without an interface: the first method with the name
            // is called.
            for interface in interfaces {
                if let method = interface.methods[member] { return (interface, method) }
            }
            throw .unknownMethod("The object \(path) has no method \(member).")
        }
        guard let found = interfaces.first(where: { $0.name.rawValue == interface }) else {
            throw .unknownInterface("The object \(path) has no interface \(interface).")
        }
        guard let method = found.methods[member] else {
            throw .unknownMethod("The interface \(interface) has no method \(member).")
        }
        return (found, method)
    }
}
