// SPDX-License-Identifier: Apache-2.0

internal import CDBus

// The timeouts that libdbus asks for; each fires repeatedly until libdbus removes it.
extension Link {
    func add(timeout: OpaquePointer) -> Bool {
        guard !libdbus.isFailing else { return false }
        let key = Int(bitPattern: timeout)
        let id = loop.addTimer(after: Self.interval(of: timeout), repeats: true) {
            [weak owner] in
            owner?.assumeIsolated { $0.link?.handle(timeout: key) }
        }
        dbus_timeout_set_data(timeout, UnsafeMutableRawPointer(bitPattern: id), nil)
        timeouts[key] = timeout
        return true
    }

    func remove(timeout: OpaquePointer) {
        timeouts[Int(bitPattern: timeout)] = nil
        loop.removeTimer(Self.sourceID(dbus_timeout_get_data(timeout)))
    }

    func toggle(timeout: OpaquePointer) {
        let id = Self.sourceID(dbus_timeout_get_data(timeout))
        loop.setTimer(id, after: Self.interval(of: timeout))
    }

    /// Returns the interval of a timeout; nil while the timeout is disabled.
    private static func interval(of timeout: OpaquePointer) -> EventLoop.Instant? {
        guard dbus_timeout_get_enabled(timeout) != 0 else { return nil }
        return EventLoop.Instant(max(1, dbus_timeout_get_interval(timeout))) * 1_000_000
    }

    private func handle(timeout key: Int) {
        guard let timeout = timeouts[key], dbus_timeout_get_enabled(timeout) != 0 else { return }
        work { dbus_timeout_handle(timeout) }
    }
}
