// SPDX-License-Identifier: Apache-2.0

internal import CDBus

/// One private connection of libdbus, run by an event loop.
///
/// libdbus wants a main loop: it hands out descriptors to watch and timeouts to keep
/// (`Link+Watches.swift`, `Link+Timeouts.swift`) and asks to be dispatched. All of it happens on the
/// thread of the owner's executor; this class is not Sendable and belongs to its owner's isolation.
final class Link {
    /// Messages handled in a row before other jobs of the executor get their turn.
    private static let messagesInARow = 64

    /// libdbus reads 2 KiB at a time (max_bytes_read_per_iteration of its transport); so many messages
    /// in them are small ones, of which many more may wait.
    private static let messagesOfALoad = 8

    /// How long to wait for memory before dispatching again.
    private static let memoryPause: EventLoop.Instant = 50_000_000

    let pointer: OpaquePointer
    let border: Border
    /// Keeps this link; what the loop calls later asks whether it is still there.
    unowned let owner: Connection
    let loop: EventLoop

    /// By their addresses, which handlers know them by; libdbus keeps the loop's numbers.
    var watches: [Int: OpaquePointer] = [:]
    var timeouts: [Int: OpaquePointer] = [:]
    var hasFilter = false
    private var isDraining = false
    private var isDrainScheduled = false
    private(set) var isClosed = false

    /// Connects, registers with the bus, and lets the loop run the connection.
    ///
    /// Blocks the loop, not Swift's pool, until the bus has answered; at most 25 s, which is
    /// libdbus's own limit for a reply.
    init(to address: BusAddress, owner: Connection, border: Border) throws(BusError) {
        pointer = try Self.connect(to: address, border: border)
        self.border = border
        self.owner = owner
        loop = owner.executor.loop
        // Otherwise libdbus ends the process when the bus goes away.
        dbus_connection_set_exit_on_disconnect(pointer, 0)
        // No more is read while so much is still to be looked at; one longer message comes alone.
        dbus_connection_set_max_received_size(pointer, 1 << 20)
        do throws(BusError) {
            try install()
        } catch {
            close()
            throw error
        }
        // The bus has already sent NameAcquired; no watch will report it.
        scheduleDrain()
    }

    deinit {
        // The last reference of a connection that is still open makes libdbus abort.
        precondition(isClosed, "a link ends by close()")
    }

    var isConnected: Bool {
        !isClosed && dbus_connection_get_is_connected(pointer) != 0
    }

    /// Bytes that wait because the bus does not read.
    var outgoingBytes: Int {
        isClosed ? 0 : dbus_connection_get_outgoing_size(pointer)
    }

    /// Queues a message and writes what the socket takes at once.
    ///
    /// - Throws: `Disconnected`; libdbus itself would claim success and drop the message.
    func send(_ message: borrowing Message) throws(BusError) {
        guard isConnected else { throw .connectionClosed }
        let message = message.pointer
        try border.check("dbus_connection_send") {
            dbus_connection_send(pointer, message, nil)
        }
    }

    /// Cuts the connection, drops its watches and timeouts, and gives it up; may be called again.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        dbus_connection_close(pointer)
        dbus_connection_set_watch_functions(pointer, nil, nil, nil, nil, nil)
        dbus_connection_set_timeout_functions(pointer, nil, nil, nil, nil, nil)
        dbus_connection_set_wakeup_main_function(pointer, nil, nil, nil)
        dbus_connection_set_dispatch_status_function(pointer, nil, nil, nil)
        // Taking back a filter that is not there makes libdbus abort.
        if hasFilter { dbus_connection_remove_filter(pointer, Self.filter, context) }
        dbus_connection_unref(pointer)
    }

    // MARK: Dispatching

    /// Lets libdbus work on a watch or a timeout, then hands what it received to the filter.
    ///
    /// - Returns: Whether so much came at once that more of it may wait to be read.
    @discardableResult
    func work(_ body: () -> Void) -> Bool {
        // What libdbus reports meanwhile is dispatched below and needs no turn of its own.
        isDraining = true
        body()
        return drain() >= Self.messagesOfALoad
    }

    /// Hands received messages to the filter, soon and on the thread.
    ///
    /// libdbus forbids to dispatch from within its own callbacks, so they come here. A timer, since
    /// what is posted waits behind all that is there: the messages of one sender are read at the
    /// pace of the bus, and another's do not stand behind them.
    func scheduleDrain(after pause: EventLoop.Instant = 0) {
        guard !isDraining, !isDrainScheduled, !isClosed else { return }
        isDrainScheduled = true
        loop.addTimer(after: pause, repeats: false) { [weak owner] in
            owner?.assumeIsolated { connection in
                connection.link?.isDrainScheduled = false
                connection.link?.drain()
            }
        }
    }

    /// Hands received messages to the filter, one after the other, and plans what is left.
    ///
    /// - Returns: How many it handed over before the last one.
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
                border.isFailing ? DBUS_DISPATCH_NEED_MEMORY : dbus_connection_dispatch(pointer)
            guard status == DBUS_DISPATCH_DATA_REMAINS else { return (status, count) }
        }
        return (DBUS_DISPATCH_DATA_REMAINS, Self.messagesInARow)
    }
}

extension BusError {
    /// What every call meets once the connection is gone.
    static let connectionClosed = BusError.disconnected("The connection to the bus is closed.")
}
