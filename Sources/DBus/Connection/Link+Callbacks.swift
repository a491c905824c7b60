// SPDX-License-Identifier: Apache-2.0

internal import CDBus

// The functions that libdbus calls back. Their context is the link itself, unretained: the link
// unregisters all of them before it ends, and libdbus calls them only during calls made on the
// link's thread.
extension Link {
    var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    private static func link(_ context: UnsafeMutableRawPointer?) -> Link? {
        context.map { Unmanaged<Link>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Opens a private connection and registers it with the bus: in one call
    /// (`dbus_bus_get_private`) for the known buses, in two for an address.
    static func connect(
        to address: BusAddress,
        libdbus: LibDBusCalls
    ) throws(BusError) -> OpaquePointer {
        switch address {
        case .session, .system:
            return try libdbus.attempt("dbus_bus_get_private") {
                dbus_bus_get_private(address == .system ? DBUS_BUS_SYSTEM : DBUS_BUS_SESSION, $0)
            }
        case .address(let text):
            guard !text.utf8.contains(0) else {
                throw .invalidArguments("The address contains a zero byte.")
            }
            let pointer = try libdbus.attempt("dbus_connection_open_private") {
                dbus_connection_open_private(text, $0)
            }
            do throws(BusError) {
                try libdbus.attempt("dbus_bus_register") {
                    dbus_bus_register(pointer, $0) != 0 ? () : nil
                }
                return pointer
            } catch {
                dbus_connection_close(pointer)
                dbus_connection_unref(pointer)
                throw error
            }
        }
    }

    /// Registers the filter and the main loop's functions with libdbus.
    func install() throws(BusError) {
        try libdbus.check("dbus_connection_add_filter") {
            dbus_connection_add_filter(pointer, Self.filter, context, nil)
        }
        hasFilter = true
        try libdbus.check("dbus_connection_set_watch_functions") {
            dbus_connection_set_watch_functions(
                pointer,
                { watch, context in
                    guard let watch, let link = Link.link(context) else { return 0 }
                    return link.add(watch: watch) ? 1 : 0
                },
                { watch, context in
                    guard let watch else { return }
                    Link.link(context)?.remove(watch: watch)
                },
                { watch, context in
                    guard let watch else { return }
                    Link.link(context)?.toggle(watch: watch)
                },
                context,
                nil
            )
        }
        dbus_connection_set_wakeup_main_function(
            pointer,
            { Link.link($0)?.scheduleDrain() },
            context,
            nil
        )
        dbus_connection_set_dispatch_status_function(
            pointer,
            { _, status, context in
                guard status == DBUS_DISPATCH_DATA_REMAINS else { return }
                Link.link(context)?.scheduleDrain()
            },
            context,
            nil
        )
    }

    /// Receives every message except replies to pending calls and calls of `Peer`, which libdbus
    /// answers itself.
    static let filter: DBusHandleMessageFunction = { _, message, context in
        guard let message, let owner = Link.link(context)?.owner else {
            return DBUS_HANDLER_RESULT_NOT_YET_HANDLED
        }
        // Safe: the closure runs synchronously on the thread that owns the message, and keeps no
        // reference to the message.
        nonisolated(unsafe) let borrowed = message
        return owner.assumeIsolated { $0.receive(borrowed) }
    }
}
