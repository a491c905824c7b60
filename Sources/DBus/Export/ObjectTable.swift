// SPDX-License-Identifier: Apache-2.0

/// The objects of a connection and the paths that lead to them.
///
/// Every prefix of an object's path answers Introspect, so that tools that walk the tree find the
/// objects.
struct ObjectTable {
    private var objects: [ObjectPath: ExportedObject] = [:]
    private var subtrees: [ObjectPath: Subtree] = [:]
    private var children: [ObjectPath: Set<String>] = [.root: []]

    /// Returns what answers at a path: an object, the bare node above one, or the object that a
    /// subtree has for all of its paths; nil if nothing does.
    func object(at path: ObjectPath) -> ExportedObject? {
        if let object = objects[path] { return object }
        return children[path] == nil ? subtree(around: path)?.object : .node
    }

    /// Returns the subtree that a path would be an object of; nil if there is none.
    func subtree(around path: ObjectPath) -> Subtree? {
        guard !subtrees.isEmpty, objects[path] == nil, let parent = path.parent else { return nil }
        return subtrees[parent]
    }

    /// Returns the subtree whose objects are one level below a path.
    func subtree(below path: ObjectPath) -> Subtree? { subtrees[path] }

    /// Returns the path elements one level below a path, sorted, without those of a subtree.
    func children(of path: ObjectPath) -> [String] { children[path, default: []].sorted() }

    /// Adds an object.
    ///
    /// - Throws: `ObjectPathInUse`.
    mutating func insert(_ object: ExportedObject, at path: ObjectPath) throws(BusError) {
        guard objects[path] == nil else {
            throw BusError(Self.inUse, "An object is already exported at \(path).")
        }
        objects[path] = object
        makeNodes(to: path)
    }

    /// Adds a subtree, which cannot be removed again.
    ///
    /// - Throws: `ObjectPathInUse`.
    mutating func insert(_ subtree: Subtree, below path: ObjectPath) throws(BusError) {
        guard subtrees[path] == nil else {
            throw BusError(Self.inUse, "A subtree is already exported below \(path).")
        }
        subtrees[path] = subtree
        makeNodes(to: path)
    }

    private static let inUse: ErrorName = "org.freedesktop.DBus.Error.ObjectPathInUse"

    private mutating func makeNodes(to path: ObjectPath) {
        children[path, default: []].formUnion([])
        var below = path
        while let parent = below.parent, let element = below.lastElement {
            children[parent, default: []].insert(element)
            below = parent
        }
    }

    mutating func remove(at path: ObjectPath) {
        guard objects.removeValue(forKey: path) != nil else { return }
        // Prefixes that no longer lead to an object are removed as well.
        var node = path
        while objects[node] == nil, subtrees[node] == nil, children[node, default: []].isEmpty,
            let parent = node.parent, let element = node.lastElement
        {
            children[node] = nil
            children[parent]?.remove(element)
            node = parent
        }
    }
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
