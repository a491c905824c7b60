// SPDX-License-Identifier: Apache-2.0

extension Connection {
    /// Puts an object on the bus.
    ///
    /// Introspectable, Properties and Peer come along, and every prefix of the path answers
    /// Introspect with what lies below it.
    ///
    /// - Throws: `org.freedesktop.DBus.Error.ObjectPathInUse`; `Disconnected`; `InvalidArgs` for a
    ///   malformed name.
    public func export(_ interfaces: [Interface], at path: ObjectPath) throws(BusError) {
        _ = try openLink()
        try path.check()
        for interface in interfaces { try interface.check() }
        try objects.insert(.object(interfaces), at: path)
    }

    /// Puts all objects of a subtree on the bus, one level below a path.
    ///
    /// - Throws: `org.freedesktop.DBus.Error.ObjectPathInUse`; `Disconnected`.
    public func export(_ subtree: Subtree, below path: ObjectPath) throws(BusError) {
        _ = try openLink()
        try objects.insert(subtree, below: path)
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
        try emit(signal, at: path, written: WireWriter(repeat each contents))
    }

    /// Sends a signal whose contents are written already, as the declared types are.
    package func emit<each Content: BusType>(
        _ signal: Signal<repeat each Content>,
        at path: ObjectPath,
        written contents: WireWriter
    ) throws(BusError) {
        try emit(signal.interface, signal.member, at: path, contents)
    }

    /// Sends a signal that is declared nowhere.
    package func emit(
        _ interface: InterfaceName,
        _ member: MemberName,
        at path: ObjectPath,
        _ arguments: [Value]
    ) throws(BusError) {
        try emit(interface, member, at: path, WireWriter(contents: arguments))
    }

    /// Sends a signal whose arguments are written already; it is declared nowhere.
    public func emit(
        _ interface: InterfaceName,
        _ member: MemberName,
        at path: ObjectPath,
        _ arguments: WireWriter
    ) throws(BusError) {
        let link = try openLink()
        try link.send(
            try Message(signal: interface, member, from: path, arguments, border: border)
        )
    }

    /// Announces that properties have changed: "org.freedesktop.DBus.Properties.PropertiesChanged".
    ///
    /// - Parameters:
    ///   - interface: Whose properties they are.
    ///   - path: The object.
    ///   - changed: Their values by their names.
    ///   - invalidated: The names of properties whose new value is not told.
    /// - Throws: What ``emit(_:at:_:)`` does.
    public func emitPropertiesChanged(
        _ interface: InterfaceName,
        at path: ObjectPath,
        changed: [String: Value],
        invalidated: [String] = []
    ) throws(BusError) {
        let arguments = WireWriter(interface.rawValue, changed, invalidated)
        try emit(Interface.propertiesChanged, at: path, written: arguments)
    }
}
