// SPDX-License-Identifier: Apache-2.0

extension Interface {
    /// `org.freedesktop.DBus.ObjectManager`: all objects below the one that has this interface.
    ///
    /// Comings and goings are announced by whoever makes them:
    /// ``Connection/emitInterfacesAdded(_:_:from:)`` and
    /// ``Connection/emitInterfacesRemoved(_:of:from:)``.
    ///
    /// - Parameters:
    ///   - errors: Puts what `objects` throws into error replies.
    ///   - objects: Gives all of them as a value of type `a{oa{sa{sv}}}`: for each path the names
    ///     of its interfaces, and for each name the properties.
    /// - Returns: The table.
    public static func objectManager<Objects: BusType>(
        errors: Wording? = nil,
        _ objects: @escaping @Sendable (Call) async throws -> Objects
    ) -> Interface {
        Interface(
            objectManagerName,
            [
                .method(
                    "GetManagedObjects",
                    .query,
                    out: ["objpath_interfaces_and_properties"],
                    objects
                ),
                .signal(interfacesAdded), .signal(interfacesRemoved),
            ],
            errors: errors
        )
    }

    fileprivate static let objectManagerName: InterfaceName = "org.freedesktop.DBus.ObjectManager"
    fileprivate static let interfacesAdded = Signal<ObjectPath, [String: [String: Value]]>(
        objectManagerName,
        "InterfacesAdded",
        arguments: ["object_path", "interfaces_and_properties"]
    )
    fileprivate static let interfacesRemoved = Signal<ObjectPath, [String]>(
        objectManagerName,
        "InterfacesRemoved",
        arguments: ["object_path", "interfaces"]
    )
}

extension Connection {
    /// Announces a new object.
    ///
    /// - Parameters:
    ///   - path: Where it stands.
    ///   - interfaces: Its interfaces by their names, each with all properties, an `a{sv}`.
    ///   - manager: Where the ObjectManager stands.
    /// - Throws: What ``emit(_:at:_:)`` does.
    public func emitInterfacesAdded(
        _ path: ObjectPath,
        _ interfaces: [String: some BusType],
        from manager: ObjectPath
    ) throws(BusError) {
        try emit(
            Interface.interfacesAdded,
            at: manager,
            written: WireWriter(path, interfaces)
        )
    }

    /// Announces that an object is gone.
    ///
    /// - Parameters:
    ///   - interfaces: Those that it had.
    ///   - path: Where it stood.
    ///   - manager: Where the ObjectManager stands.
    /// - Throws: What ``emit(_:at:_:)`` does.
    public func emitInterfacesRemoved(
        _ interfaces: [InterfaceName],
        of path: ObjectPath,
        from manager: ObjectPath
    ) throws(BusError) {
        try emit(Interface.interfacesRemoved, at: manager, path, interfaces.map(\.rawValue))
    }
}
