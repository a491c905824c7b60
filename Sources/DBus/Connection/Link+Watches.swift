// SPDX-License-Identifier: Apache-2.0

internal import CDBus

// The descriptors that libdbus asks to watch. libdbus keeps two watches for its one socket, and
// closes the socket as soon as it has removed both: the loop polls neither of them then.
extension Link {
    func add(watch: OpaquePointer) -> Bool {
        guard !libdbus.isFailing else { return false }
        let isForReading = dbus_watch_get_flags(watch) & DBUS_WATCH_READABLE.rawValue != 0
        let flags = (isForReading ? DBUS_WATCH_READABLE : DBUS_WATCH_WRITABLE).rawValue
        // The handler finds the watch by its address in libdbus.
        let key = Int(bitPattern: watch)
        let id = loop.watch(
            dbus_watch_get_unix_fd(watch),
            forReading: isForReading,
            isEnabled: dbus_watch_get_enabled(watch) != 0
        ) { [weak owner] in
            owner?.assumeIsolated { $0.link?.handle(watch: key, flags: flags) }
        }
        dbus_watch_set_data(watch, UnsafeMutableRawPointer(bitPattern: id), nil)
        watches[key] = watch
        return true
    }

    func remove(watch: OpaquePointer) {
        watches[Int(bitPattern: watch)] = nil
        loop.removeWatch(Int(bitPattern: dbus_watch_get_data(watch)))
    }

    func toggle(watch: OpaquePointer) {
        let isEnabled = dbus_watch_get_enabled(watch) != 0
        loop.setWatch(Int(bitPattern: dbus_watch_get_data(watch)), isEnabled: isEnabled)
        // libdbus needs no more writing: all is sent, by this watch or by a call to send.
        guard !isClosed, !isEnabled, dbus_watch_get_flags(watch) & DBUS_WATCH_WRITABLE.rawValue != 0
        else { return }
        owner.enqueue { $0.outgoingShrank() }
    }

    /// How many times in a row libdbus may read while each read brings many messages.
    private static let readsInARow = 8

    /// Lets libdbus read or write; if libdbus lacks memory, the watch becomes ready again.
    private func handle(watch key: Int, flags: UInt32) {
        for _ in 0..<Self.readsInARow {
            guard let watch = watches[key], dbus_watch_get_enabled(watch) != 0 else { return }
            let mayHaveMore = work {
                try? libdbus.check("dbus_watch_handle") { dbus_watch_handle(watch, flags) }
            }
            guard mayHaveMore, flags == DBUS_WATCH_READABLE.rawValue else { return }
        }
    }
}
