// SPDX-License-Identifier: Apache-2.0

extension Connection {
    /// Puts an object on the bus.
    ///
    /// Introspectable, Properties and Peer come along, and every prefix of the path answers
    /// Introspect with what lies below it.
    ///
    /// - Throws: `org.freedesktop.DBus.Error.ObjectPathInUse`; `Disconnected`.
    public func export(_ interfaces: [Interface], at path: ObjectPath) throws(BusError) {
        _ = try openLink()
        guard !objects.contains(path) else {
            throw BusError(
                "org.freedesktop.DBus.Error.ObjectPathInUse",
                "An object is already exported at \(path)."
            )
        }
        objects.insert(.object(interfaces), at: path)
    }

    /// Puts all objects of a subtree on the bus, one level below a path.
    ///
    /// - Throws: `org.freedesktop.DBus.Error.ObjectPathInUse`; `Disconnected`.
    public func export(_ subtree: Subtree, below path: ObjectPath) throws(BusError) {
        _ = try openLink()
        guard objects.subtree(below: path) == nil else {
            throw BusError(
                "org.freedesktop.DBus.Error.ObjectPathInUse",
                "A subtree is already exported below \(path)."
            )
        }
        objects.insert(subtree, below: path)
    }

    /// Takes an object off the bus; calls that run are answered all the same.
    public func unexport(at path: ObjectPath) {
        objects.remove(at: path)
    }

    /// Sends a signal to every connection that listens.
    ///
    /// Look at ``outgoingBytes`` first if the signal could be left out or merged.
    ///
    /// - Parameters:
    ///   - signal: The signal.
    ///   - path: The object that sends it.
    ///   - contents: What it carries.
    /// - Throws: `Disconnected`, `NoMemory`; `InvalidArgs` and `LimitsExceeded` for arguments that
    ///   cannot be sent.
    public func emit<each Content: BusType>(
        _ signal: Signal<repeat each Content>,
        at path: ObjectPath,
        _ contents: repeat each Content
    ) throws(BusError) {
        var values: [Value] = []
        repeat values.append((each contents).busValue)
        try emit(signal, at: path, values: values)
    }

    /// Sends a signal whose contents are encoded already, as the declared types are.
    package func emit<each Content: BusType>(
        _ signal: Signal<repeat each Content>,
        at path: ObjectPath,
        values: [Value]
    ) throws(BusError) {
        assert(values.map(\.signature) == signal.arguments.map(\.type), "\(signal.member)")
        try emit(signal.interface, signal.member, at: path, values)
    }

    /// Sends a signal that is declared nowhere.
    package func emit(
        _ interface: InterfaceName,
        _ member: MemberName,
        at path: ObjectPath,
        _ arguments: [Value]
    ) throws(BusError) {
        let link = try openLink()
        let message = try Message.signal(interface, member, from: path, arguments, border: border)
        try link.send(message)
    }

    /// Announces that properties have changed: "org.freedesktop.DBus.Properties.PropertiesChanged".
    ///
    /// The changed values come without a variant around them; the invalidated names are those of
    /// properties that have changed to a value not told. Throws what ``emit(_:at:_:)`` does.
    public func emitPropertiesChanged(
        _ interface: InterfaceName,
        at path: ObjectPath,
        changed: [String: Value],
        invalidated: [String] = []
    ) throws(BusError) {
        try emitPropertiesChanged(
            interface,
            at: path,
            changed: changed.busValue,
            invalidated: invalidated
        )
    }

    /// The same with the changed values as one value, `a{sv}`, which may be marshalled.
    package func emitPropertiesChanged(
        _ interface: InterfaceName,
        at path: ObjectPath,
        changed: Value,
        invalidated: [String] = []
    ) throws(BusError) {
        try emit(
            Interface.propertiesChanged,
            at: path,
            values: [.string(interface.rawValue), changed, invalidated.busValue]
        )
    }
}
