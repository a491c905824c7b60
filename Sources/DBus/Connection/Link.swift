// SPDX-License-Identifier: Apache-2.0

internal import CDBus
internal import Glibc

/// One private connection of libdbus, run by an event loop.
///
/// libdbus needs a main loop: it asks for descriptors to be watched (`Link+Watches.swift`), and for
/// its messages to be dispatched. All of this happens on the thread of the owner's executor. This
/// class is not Sendable; it belongs to its owner's isolation.
final class Link {
    /// The most messages handled in a row before other jobs of the executor run.
    private static let messagesInARow = 64

    /// A read that brings at least this many messages brings small ones, so many more may be
    /// waiting.
    ///
    /// libdbus reads 2 KiB at a time (max_bytes_read_per_iteration of its transport).
    private static let messagesOfALoad = 8

    /// How long to wait for memory before the next dispatch, in nanoseconds.
    private static let memoryPause: EventLoop.Instant = 50_000_000

    let pointer: OpaquePointer
    let libdbus: LibDBusCalls
    /// The connection, which keeps this link; handlers that run later check that the link still
    /// exists.
    unowned let owner: Connection
    let loop: EventLoop

    /// The watches by their addresses, by which handlers find them; libdbus stores the loop's ids.
    var watches: [Int: OpaquePointer] = [:]
    var hasFilter = false
    private var isDraining = false
    private var isDrainScheduled = false
    private(set) var isClosed = false

    /// Connects, registers with the bus, and lets the loop run the connection.
    ///
    /// Blocks the loop's thread, but none of Swift's, until the bus has answered: for ever if the bus
    /// accepts the connection and is silent from then on.
    init(to address: BusAddress, owner: Connection, libdbus: LibDBusCalls) throws(BusError) {
        pointer = try Self.connect(to: address, libdbus: libdbus)
        self.libdbus = libdbus
        self.owner = owner
        loop = owner.executor.loop
        // Without this, libdbus ends the process when the bus goes away.
        dbus_connection_set_exit_on_disconnect(pointer, 0)
        // libdbus stops reading while this many bytes (1 MiB) are not handled yet; a longer message
        // is read alone.
        dbus_connection_set_max_received_size(pointer, 1 << 20)
        do throws(BusError) {
            try install()
        } catch {
            close()
            throw error
        }
        // The bus has already sent NameAcquired; no watch reports that message.
        scheduleDrain()
    }

    deinit {
        // libdbus aborts when the last reference to an open connection is dropped.
        precondition(isClosed, "a link ends by close()")
    }

    var isConnected: Bool { !isClosed && dbus_connection_get_is_connected(pointer) != 0 }

    /// The bytes that wait because the bus does not read them.
    var outgoingBytes: Int { isClosed ? 0 : dbus_connection_get_outgoing_size(pointer) }

    /// Queues a message, and writes as much of it as the socket takes now.
    ///
    /// - Throws: `Disconnected`, where libdbus itself would report success and drop the message.
    func send(_ message: Message) throws(BusError) {
        guard isConnected else { throw .connectionClosed }
        let message = message.pointer
        try libdbus.check("dbus_connection_send") { dbus_connection_send(pointer, message, nil) }
    }

    /// Closes the connection and removes its watches; further calls do nothing.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        dbus_connection_close(pointer)
        dbus_connection_set_watch_functions(pointer, nil, nil, nil, nil, nil)
        dbus_connection_set_wakeup_main_function(pointer, nil, nil, nil)
        dbus_connection_set_dispatch_status_function(pointer, nil, nil, nil)
        // libdbus aborts when a filter is removed that was not added.
        if hasFilter { dbus_connection_remove_filter(pointer, Self.filter, context) }
        dbus_connection_unref(pointer)
    }

    // MARK: Dispatching

    /// Lets libdbus handle a watch, then passes the received messages to the filter.
    ///
    /// - Returns: Whether at least ``messagesOfALoad`` messages came, so that more may wait to be
    ///   read.
    func work(_ body: () -> Void) -> Bool {
        // Messages that libdbus reports meanwhile are dispatched below; they need no scheduled
        // drain.
        isDraining = true
        body()
        return drain() >= Self.messagesOfALoad
    }

    /// Schedules a drain on the thread: libdbus forbids dispatching from within its own callbacks.
    ///
    /// The drain is a timer, not a posted item: a posted item would wait behind all earlier items.
    /// With a timer, one sender's messages are read as fast as the bus delivers them, and do not
    /// delay another sender's messages.
    func scheduleDrain(after pause: EventLoop.Instant = 0) {
        guard !isDraining, !isDrainScheduled, !isClosed else { return }
        isDrainScheduled = true
        loop.addTimer(after: pause) { [weak owner] in
            owner?.assumeIsolated { connection in
                connection.link?.isDrainScheduled = false
                connection.link?.drain()
            }
        }
    }

    /// Passes received messages to the filter one by one, and schedules the rest.
    ///
    /// - Returns: How many messages it passed on before the last one.
    @discardableResult
    private func drain() -> Int {
        isDraining = true
        let (status, count) = dispatch()
        isDraining = false
        switch status {
        case DBUS_DISPATCH_DATA_REMAINS: scheduleDrain()
        case DBUS_DISPATCH_NEED_MEMORY: scheduleDrain(after: Self.memoryPause)
        default: break
        }
        return count
    }

    private func dispatch() -> (DBusDispatchStatus, Int) {
        for count in 0..<Self.messagesInARow {
            guard !isClosed else { return (DBUS_DISPATCH_COMPLETE, count) }
            let status =
                libdbus.isFailing ? DBUS_DISPATCH_NEED_MEMORY : dbus_connection_dispatch(pointer)
            guard status == DBUS_DISPATCH_DATA_REMAINS else { return (status, count) }
        }
        return (DBUS_DISPATCH_DATA_REMAINS, Self.messagesInARow)
    }
}

extension BusError {
    /// The error of every call after the connection has ended.
    static let connectionClosed = BusError.disconnected("The connection to the bus is closed.")
}

extension Link {
    /// The name of the bus's end of the connection's socket: a path, or a zero byte and a name.
    ///
    /// Nil if the bus is not reached through a local socket, or the connection is closed.
    var busSocketName: [UInt8]? {
        var socket: CInt = -1
        guard isConnected, dbus_connection_get_socket(pointer, &socket) != 0 else { return nil }
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isKnown = withUnsafeMutableBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { pointer in
                pointer.baseAddress.map { getpeername(socket, $0, &length) } == 0
            }
        }
        guard isKnown, address.sun_family == sa_family_t(AF_UNIX),
            let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path), Int(length) > start
        else { return nil }
        return withUnsafeBytes(of: address) { Array($0[start..<Int(length)]) }
    }
}
