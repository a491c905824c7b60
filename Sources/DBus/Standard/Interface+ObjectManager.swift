// SPDX-License-Identifier: Apache-2.0

extension Interface {
    /// `org.freedesktop.DBus.ObjectManager`: all objects below the one that has this interface.
    ///
    /// The code that adds or removes an object announces it with ``interfacesAdded`` or
    /// ``interfacesRemoved``, from the path of the object with this interface.
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

    private static let objectManagerName: InterfaceName = "org.freedesktop.DBus.ObjectManager"

    /// Announces a new object: its path, and its interfaces by name, each with all properties.
    public static let interfacesAdded = Signal<ObjectPath, [String: [String: Value]]>(
        objectManagerName,
        "InterfacesAdded",
        arguments: ["object_path", "interfaces_and_properties"]
    )

    /// Announces that an object is gone: its path, and the names of the interfaces that it had.
    public static let interfacesRemoved = Signal<ObjectPath, [String]>(
        objectManagerName,
        "InterfacesRemoved",
        arguments: ["object_path", "interfaces"]
    )
}
