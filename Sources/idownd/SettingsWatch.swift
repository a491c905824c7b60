// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc

/// Reports when the settings file may have changed: inotify(7).
///
/// It watches the folder, because editors replace the file with a new one. A missing folder is
/// made.
actor SettingsWatch {
    /// An element when the file may have changed; several changes may share one.
    nonisolated let changes: AsyncStream<Void>

    /// The source of events, for the life of this object, which is that of the process.
    private let source: (any DispatchSourceRead)?

    /// - Parameter folder: the folder of `settings.json`.
    init(folder: String) {
        let (changes, post) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        self.changes = changes
        if let slash = folder.lastIndex(of: "/") { mkdir(String(folder[..<slash]), 0o700) }
        mkdir(folder, 0o700)
        let descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        let events = UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE | IN_ONLYDIR)
        guard descriptor >= 0 else {
            source = nil
            return
        }
        guard inotify_add_watch(descriptor, folder, events) >= 0 else {
            close(descriptor)
            source = nil
            return
        }
        let source = DispatchSource.makeReadSource(
            fileDescriptor: descriptor,
            queue: DispatchQueue(label: "org.idown.settings")
        )
        source.setEventHandler {
            // The events are not evaluated: the reader compares the file with the current settings.
            var bytes = [UInt8](repeating: 0, count: 4096)
            while read(descriptor, &bytes, bytes.count) > 0 {}
            post.yield()
        }
        source.activate()
        self.source = source
    }
}
