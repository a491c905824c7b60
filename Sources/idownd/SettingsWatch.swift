// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc

/// Reports when the settings file may have changed: inotify(7).
///
/// It watches folders, because editors replace the file with a new one: that of the file and, if the
/// file is a symbolic link, those of all files that the link leads to. A missing folder is made.
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
        guard descriptor >= 0 else {
            source = nil
            return
        }
        Self.watch(folder + "/settings.json", descriptor)
        let source = DispatchSource.makeReadSource(
            fileDescriptor: descriptor,
            queue: DispatchQueue(label: "org.idown.settings")
        )
        source.setEventHandler {
            // The events are not evaluated: the reader compares the file with the current settings.
            var bytes = [UInt8](repeating: 0, count: 4096)
            while read(descriptor, &bytes, bytes.count) > 0 {}
            // A link may lead elsewhere by now; where it has led before is still watched.
            Self.watch(folder + "/settings.json", descriptor)
            post.yield()
        }
        source.activate()
        self.source = source
    }

    /// Watches the folder of a file and, while the file is a link, those of all that it leads to.
    private static func watch(_ path: String, _ descriptor: Int32) {
        let events = UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE | IN_ONLYDIR)
        var path = path
        // Linux follows up to 40 links: path_resolution(7).
        for _ in 0..<40 {
            guard let slash = path.lastIndex(of: "/") else { return }
            inotify_add_watch(descriptor, String(path[...slash]), events)
            var link = [CChar](repeating: 0, count: 4096)
            guard readlink(path, &link, link.count - 1) > 0 else { return }
            let target = String(
                decoding: link.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)),
                as: UTF8.self
            )
            path = target.hasPrefix("/") ? target : path[...slash] + target
        }
    }
}
