// SPDX-License-Identifier: Apache-2.0

internal import CDBus
internal import Dispatch
internal import Glibc

/// A watch of libdbus as a dispatch source.
///
/// libdbus keeps two watches for its one socket, and closes the socket as soon as it has taken them
/// back, while a dispatch source may look at its descriptor until its cancel handler has run. So
/// every source has a duplicate of its own.
final class WatchSource {
    let watch: OpaquePointer
    private let source: any DispatchSourceProtocol
    private var isSuspended = true

    init(watch: OpaquePointer, source: any DispatchSourceProtocol) {
        self.watch = watch
        self.source = source
    }

    func setEnabled(_ isEnabled: Bool) {
        guard isEnabled == isSuspended else { return }
        isSuspended = !isEnabled
        if isEnabled { source.resume() } else { source.suspend() }
    }

    /// Ends the source, which must run to get to its cancel handler.
    func cancel() {
        source.cancel()
        setEnabled(true)
    }
}

extension Link {
    func add(watch: OpaquePointer) -> Bool {
        // A planned failure has no errno of its own; either way libdbus takes it as want of memory.
        let descriptor =
            border.isFailing ? -1 : fcntl(dbus_watch_get_unix_fd(watch), F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { return false }
        let isForReading = dbus_watch_get_flags(watch) & DBUS_WATCH_READABLE.rawValue != 0
        let source: any DispatchSourceProtocol =
            isForReading
            ? DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
            : DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: queue)
        let id = makeSourceID()
        let flags = (isForReading ? DBUS_WATCH_READABLE : DBUS_WATCH_WRITABLE).rawValue
        let owner = owner
        source.setEventHandler {
            owner.assumeIsolated { $0.link?.handle(watch: id, flags: flags) }
        }
        source.setCancelHandler { _ = Glibc.close(descriptor) }
        dbus_watch_set_data(watch, UnsafeMutableRawPointer(bitPattern: id), nil)
        let entry = WatchSource(watch: watch, source: source)
        watches[id] = entry
        entry.setEnabled(dbus_watch_get_enabled(watch) != 0)
        return true
    }

    func remove(watch: OpaquePointer) {
        watches.removeValue(forKey: Self.sourceID(dbus_watch_get_data(watch)))?.cancel()
    }

    func toggle(watch: OpaquePointer) {
        let isEnabled = dbus_watch_get_enabled(watch) != 0
        watches[Self.sourceID(dbus_watch_get_data(watch))]?.setEnabled(isEnabled)
        // Writing is no longer wanted: all is sent, perhaps by a call to send and not by the watch.
        guard !isEnabled, dbus_watch_get_flags(watch) & DBUS_WATCH_WRITABLE.rawValue != 0 else {
            return
        }
        owner.enqueue { $0.outgoingShrank() }
    }

    /// Lets libdbus read or write; if it lacks the memory, the source fires again.
    private func handle(watch id: Int, flags: UInt32) {
        guard let watch = watches[id]?.watch, dbus_watch_get_enabled(watch) != 0 else { return }
        work {
            try? border.check("dbus_watch_handle") { dbus_watch_handle(watch, flags) }
        }
    }

    static func sourceID(_ data: UnsafeMutableRawPointer?) -> Int {
        Int(bitPattern: data)
    }
}
