// SPDX-License-Identifier: Apache-2.0

internal import CDBus
internal import Dispatch

/// A timeout of libdbus as a dispatch timer.
final class TimeoutSource {
    let timeout: OpaquePointer
    private let timer: any DispatchSourceTimer

    init(timeout: OpaquePointer, timer: any DispatchSourceTimer) {
        self.timeout = timeout
        self.timer = timer
        timer.activate()
    }

    /// Starts the interval anew; a timeout of libdbus fires again until it is taken back.
    func schedule() {
        guard dbus_timeout_get_enabled(timeout) != 0 else {
            timer.schedule(deadline: .distantFuture)
            return
        }
        let interval = DispatchTimeInterval.milliseconds(Int(dbus_timeout_get_interval(timeout)))
        timer.schedule(deadline: .now() + interval, repeating: interval)
    }

    func cancel() {
        timer.cancel()
    }
}

extension Link {
    func add(timeout: OpaquePointer) -> Bool {
        guard !border.isFailing else { return false }
        let timer = DispatchSource.makeTimerSource(queue: queue)
        let id = makeSourceID()
        let owner = owner
        timer.setEventHandler {
            owner.assumeIsolated { $0.link?.handle(timeout: id) }
        }
        dbus_timeout_set_data(timeout, UnsafeMutableRawPointer(bitPattern: id), nil)
        let entry = TimeoutSource(timeout: timeout, timer: timer)
        timeouts[id] = entry
        entry.schedule()
        return true
    }

    func remove(timeout: OpaquePointer) {
        timeouts.removeValue(forKey: Self.sourceID(dbus_timeout_get_data(timeout)))?.cancel()
    }

    func toggle(timeout: OpaquePointer) {
        timeouts[Self.sourceID(dbus_timeout_get_data(timeout))]?.schedule()
    }

    private func handle(timeout id: Int) {
        guard let timeout = timeouts[id]?.timeout, dbus_timeout_get_enabled(timeout) != 0 else {
            return
        }
        work { dbus_timeout_handle(timeout) }
    }
}
