// SPDX-License-Identifier: Apache-2.0

extension Connection {
    /// Exports an object on the bus.
    ///
    /// The object also gets Introspectable, Properties and Peer, and every prefix of its path
    /// answers Introspect with the names below it.
    ///
    /// - Throws: `org.freedesktop.DBus.Error.ObjectPathInUse`; `Disconnected`; `InvalidArgs` for a
    ///   malformed name, and for a method or signal that does not name each of its arguments.
    public func export(_ interfaces: [Interface], at path: ObjectPath) throws(BusError) {
        _ = try openLink()
        try path.check()
        for interface in interfaces { try interface.check() }
        try objects.insert(.object(interfaces), at: path)
    }

    /// Exports all objects of a subtree, one level below a path.
    ///
    /// - Throws: The errors of ``export(_:at:)``.
    public func export(_ subtree: Subtree, below path: ObjectPath) throws(BusError) {
        _ = try openLink()
        try path.check()
        for interface in subtree.object.interfaces { try interface.check() }
        try objects.insert(subtree, below: path)
    }

    /// Removes an object from the bus; running calls are still answered.
    public func unexport(at path: ObjectPath) { objects.remove(at: path) }

    /// Sends a signal to every connection that listens.
    ///
    /// Check ``outgoingBytes`` first if the signal could be left out or merged.
    ///
    /// - Parameters:
    ///   - signal: The signal.
    ///   - path: The path of the sending object.
    ///   - contents: The signal's arguments.
    /// - Throws: `Disconnected`, `NoMemory`; `InvalidArgs` and `LimitsExceeded` for arguments that
    ///   cannot be sent.
    public func emit<each Content: BusType>(
        _ signal: Signal<repeat each Content>,
        at path: ObjectPath,
        _ contents: repeat each Content
    ) throws(BusError) {
        try emit(signal.interface, signal.member, at: path, WireWriter(repeat each contents))
    }

    /// Sends a signal without a declaration, whose arguments are encoded already.
    public func emit(
        _ interface: InterfaceName,
        _ member: MemberName,
        at path: ObjectPath,
        _ arguments: WireWriter
    ) throws(BusError) {
        let link = try openLink()
        try link.send(
            try Message(signal: interface, member, from: path, arguments, libdbus: libdbus)
        )
    }
}
