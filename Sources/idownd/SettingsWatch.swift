// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc

/// Tells when somebody has written the settings file: inotify(7).
///
/// The folder is watched, since editors put a new file in the old one's place; it is made where it
/// is missing.
actor SettingsWatch {
    /// The file may be another one now; once for any number of changes.
    nonisolated let changes: AsyncStream<Void>

    /// Tells for as long as this object lives, which is as long as the process does.
    private let source: (any DispatchSourceRead)?

    /// - Parameter folder: of the file `settings.json`.
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
            // What it was is not asked: the file is read, and compared.
            var bytes = [UInt8](repeating: 0, count: 4096)
            while read(descriptor, &bytes, bytes.count) > 0 {}
            post.yield()
        }
        source.activate()
        self.source = source
    }
}
