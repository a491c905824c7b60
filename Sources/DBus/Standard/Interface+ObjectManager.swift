// SPDX-License-Identifier: Apache-2.0

/// An object with its interfaces and their properties, as ObjectManager tells it.
public struct ManagedObject: Sendable {
    /// Where the object stands, below the object that manages it.
    public let path: ObjectPath
    /// Each interface with its properties, which are an `a{sv}`.
    public let interfaces: [(name: InterfaceName, properties: Value)]

    /// Puts an object together.
    public init(_ path: ObjectPath, _ interfaces: [(name: InterfaceName, properties: Value)]) {
        self.path = path
        self.interfaces = interfaces
    }

    /// The interfaces as `a{sa{sv}}`.
    var interfacesValue: Value {
        .dictionary(
            key: String.signature,
            value: [String: Value].signature,
            interfaces.map { Value.Entry(key: .string($0.name.rawValue), value: $0.properties) }
        )
    }
}

/// The answer to GetManagedObjects, `a{oa{sa{sv}}}`; it is only sent.
private struct ManagedObjects: BusType {
    static var signature: Signature { [ObjectPath: [String: [String: Value]]].signature }

    let objects: [ManagedObject]

    init(_ objects: [ManagedObject]) { self.objects = objects }

    init(busValue: Value) throws(DecodingFailure) {
        throw DecodingFailure("managed objects are only sent")
    }

    var busValue: Value {
        .dictionary(
            key: ObjectPath.signature,
            value: [String: [String: Value]].signature,
            objects.map { Value.Entry(key: .objectPath($0.path), value: $0.interfacesValue) }
        )
    }
}

extension Interface {
    /// `org.freedesktop.DBus.ObjectManager`: all objects below the one that has this interface.
    ///
    /// Comings and goings are announced by whoever makes them:
    /// ``Connection/emitInterfacesAdded(_:from:)`` and
    /// ``Connection/emitInterfacesRemoved(_:of:from:)``.
    ///
    /// - Parameter objects: Gives all of them.
    /// - Returns: The table.
    public static func objectManager(
        _ objects: @escaping @Sendable (Call) async throws -> [ManagedObject]
    ) -> Interface {
        Interface(
            objectManagerName,
            [
                .method("GetManagedObjects", out: ["objpath_interfaces_and_properties"]) {
                    (call: Call) async throws -> ManagedObjects in
                    ManagedObjects(try await objects(call))
                },
                .signal(interfacesAdded), .signal(interfacesRemoved),
            ]
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
    ///   - object: The object, with all of its properties.
    ///   - manager: Where the ObjectManager stands.
    /// - Throws: What ``emit(_:at:_:)`` does.
    public func emitInterfacesAdded(
        _ object: ManagedObject,
        from manager: ObjectPath
    ) throws(BusError) {
        try emit(
            Interface.interfacesAdded,
            at: manager,
            values: [.objectPath(object.path), object.interfacesValue]
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
