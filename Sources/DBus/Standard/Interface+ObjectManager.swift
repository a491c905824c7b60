// SPDX-License-Identifier: Apache-2.0

extension Interface {
    /// `org.freedesktop.DBus.ObjectManager`: all objects below the one that has this interface.
    ///
    /// The code that adds or removes an object announces it with
    /// ``Connection/emitInterfacesAdded(_:_:from:)`` or
    /// ``Connection/emitInterfacesRemoved(_:of:from:)``.
    ///
    /// - Parameters:
    ///   - errors: Converts the errors that `objects` throws into error replies.
    ///   - objects: Returns all objects as a value of type `a{oa{sa{sv}}}`: for each path, the
    ///     names of its interfaces; for each name, the properties.
    /// - Returns: The interface.
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
    ///   - path: The path of the object.
    ///   - interfaces: The object's interfaces by name, each with all properties as `a{sv}`.
    ///   - manager: The path of the object with the ObjectManager interface.
    /// - Throws: The errors of ``emit(_:at:_:)``.
    public func emitInterfacesAdded(
        _ path: ObjectPath,
        _ interfaces: [String: some BusType],
        from manager: ObjectPath
    ) throws(BusError) {
        let signal = Interface.interfacesAdded
        try emit(signal.interface, signal.member, at: manager, WireWriter(path, interfaces))
    }

    /// Announces that an object is gone.
    ///
    /// - Parameters:
    ///   - interfaces: The interfaces that the object had.
    ///   - path: The path of the object.
    ///   - manager: The path of the object with the ObjectManager interface.
    /// - Throws: The errors of ``emit(_:at:_:)``.
    public func emitInterfacesRemoved(
        _ interfaces: [InterfaceName],
        of path: ObjectPath,
        from manager: ObjectPath
    ) throws(BusError) {
        try emit(Interface.interfacesRemoved, at: manager, path, interfaces.map(\.rawValue))
    }
}
