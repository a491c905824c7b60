// SPDX-License-Identifier: Apache-2.0

extension Interface {
    static let propertiesName: InterfaceName = "org.freedesktop.DBus.Properties"
    /// Announces changed properties.
    ///
    /// Its arguments are the name of their interface, the new values by name, and the names of
    /// properties that changed but whose new values are not sent: D-Bus specification,
    /// "org.freedesktop.DBus.Properties.PropertiesChanged".
    public static let propertiesChanged = Signal<String, [String: Value], [String]>(
        propertiesName,
        "PropertiesChanged",
        arguments: ["interface_name", "changed_properties", "invalidated_properties"]
    )

    /// Returns `org.freedesktop.DBus.Properties` for the properties of some interfaces.
    static func properties(of interfaces: [Interface]) -> Interface {
        let table = PropertyTable(interfaces: interfaces + [Interface(propertiesName, [])])
        return Interface(
            propertiesName,
            [
                .method(
                    "Get",
                    .query,
                    in: ["interface_name", "property_name"],
                    out: ["value"],
                    now: { (call: Call, interface: String, name: String) in
                        (try? table.find(interface, name))?.property.now(call)
                    }
                ) { (call: Call, interface: String, name: String) in
                    Encoded<Value>(try await table.get(interface, name, call))
                },
                .method("GetAll", .query, in: ["interface_name"], out: ["props"]) {
                    (call: Call, interface: String) in
                    Encoded<[String: Value]>(try await table.all(interface, call))
                },
                .method("Set", in: ["interface_name", "property_name", "value"]) {
                    (call: Call, interface: String, name: String, value: Value) async throws in
                    try await table.set(interface, name, value, call)
                },
                .signal(propertiesChanged),
            ]
        )
    }
}

/// The properties of an object, found by the names in a call.
private struct PropertyTable: Sendable {
    let interfaces: [Interface]

    /// Returns a property; an empty name of an interface means all of them: D-Bus specification,
    /// "org.freedesktop.DBus.Properties".
    func find(
        _ interface: String,
        _ name: String
    ) throws(BusError) -> (interface: Interface, property: Property) {
        var isKnown = false
        for candidate in interfaces where interface.isEmpty || candidate.name.rawValue == interface
        {
            if let property = candidate.properties[name] { return (candidate, property) }
            isKnown = true
        }
        guard isKnown else { throw Self.unknown(interface) }
        throw .unknownProperty("The object has no property \(name.prefix(255)).")
    }

    /// Returns the error for an interface that the object lacks.
    ///
    /// It does not repeat all of the client's text, which may be as long as a message.
    private static func unknown(_ interface: String) -> BusError {
        .unknownInterface("The object has no interface \(interface.prefix(255)).")
    }

    func get(_ interface: String, _ name: String, _ call: Call) async throws -> WireWriter {
        let (interface, property) = try find(interface, name)
        do {
            return try await property.get(call)
        } catch {
            throw interface.reply(to: call, thrown: error)
        }
    }

    func all(_ interface: String, _ call: Call) async throws -> WireWriter {
        let meant = interfaces.filter { interface.isEmpty || $0.name.rawValue == interface }
        guard !meant.isEmpty else {
            throw Self.unknown(interface)
        }
        var values: [String: Value] = [:]
        for interface in meant {
            do {
                if meant.count == 1, let snapshot = interface.snapshot {
                    return try await snapshot(call)
                }
                values.merge(try await all(of: interface, call)) { first, _ in first }
            } catch {
                let error = interface.reply(to: call, thrown: error)
                // A question for all interfaces skips those that the caller may not read.
                guard meant.count > 1, error.name == BusError.accessDenied("").name else {
                    throw error
                }
            }
        }
        return WireWriter(values)
    }

    private func all(of interface: Interface, _ call: Call) async throws -> [String: Value] {
        if let snapshot = interface.snapshot {
            var reader = WireReader(try await snapshot(call))
            return try [String: Value](from: &reader)
        }
        var values: [String: Value] = [:]
        for (name, property) in interface.properties {
            var reader = WireReader(try await property.get(call))
            values[name] = try reader.variant()
        }
        return values
    }

    func set(_ interface: String, _ name: String, _ value: Value, _ call: Call) async throws {
        let (interface, property) = try find(interface, name)
        guard let set = property.set else {
            throw BusError.propertyReadOnly("The property \(name) is read-only.")
        }
        guard value.signature == property.type else {
            throw BusError.invalidArguments(
                "The property \(name) must be of type \(property.type), not \(value.signature)."
            )
        }
        do {
            try await set(call, value)
        } catch {
            throw interface.reply(to: call, thrown: error)
        }
    }
}
