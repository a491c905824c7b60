// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization

/// Reports when a file of settings may have changed: inotify(7).
///
/// Every folder on the way to the file is watched, symbolic links followed, because editors replace the
/// file with a new one, and dotfile managers replace folders and links.
actor SettingsWatch {
    /// An element when the file may have changed; several changes may share one.
    nonisolated let changes: AsyncStream<Void>

    /// The source of events, for the life of this object, which is that of the process.
    private let source: (any DispatchSourceRead)?

    /// - Parameter path: The path of the file.
    init(_ path: String) {
        let (changes, post) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        self.changes = changes
        let descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard descriptor >= 0 else {
            source = nil
            return
        }
        let watched = Mutex(Watched())
        watched.withLock { _ = $0.follow(path, descriptor) }
        let source = DispatchSource.makeReadSource(
            fileDescriptor: descriptor,
            queue: DispatchQueue(label: "org.idown.settings")
        )
        source.setEventHandler {
            let events = Self.events(from: descriptor)
            let hasMoved = watched.withLock { $0.follow(path, descriptor) }
            // The reader compares the file with the current settings. A new file is read when it is
            // closed, since it is empty before; one that gets a further name here is not empty.
            let isNews =
                events & ~UInt32(IN_CREATE | IN_IGNORED) != 0 || Self.hasSeveralNames(path)
            if isNews || hasMoved { post.yield() }
        }
        source.activate()
        self.source = source
    }

    /// Whether a file has another name as well: link(2).
    private static func hasSeveralNames(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_nlink > 1
    }

    /// Reads all events that wait, and returns what has happened, in one mask.
    private static func events(from descriptor: Int32) -> UInt32 {
        var events: UInt32 = 0
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &bytes, bytes.count)
            guard count > 0 else { return events }
            bytes.withUnsafeBytes { bytes in
                let head = MemoryLayout<inotify_event>.size
                var start = 0
                while start + head <= count {
                    let event = bytes.loadUnaligned(fromByteOffset: start, as: inotify_event.self)
                    events |= event.mask
                    start += head + Int(event.len)
                }
            }
        }
    }
}

/// The watched folders on the way to a file.
private struct Watched {
    private var watches: Set<Int32> = []
    /// The end of the way: the file, or the first missing folder.
    private var end: String?

    /// Watches the folders on the way as it is now, and no others.
    ///
    /// - Returns: Whether the way leads elsewhere than before.
    mutating func follow(_ path: String, _ descriptor: Int32) -> Bool {
        let before = (watches, end)
        var all = watches
        var way = Self.way(to: path)
        // Looks again after adding the watches, to see changes that came before them. If the way
        // keeps changing, the last one seen stays watched, and its next change comes as an event.
        for _ in 0..<10 {
            let added = way.folders.map { folder, events in
                inotify_add_watch(descriptor, folder, events | UInt32(IN_ONLYDIR))
            }
            (watches, end) = (Set(added.filter { $0 >= 0 }), way.end)
            all.formUnion(watches)
            let now = Self.way(to: path)
            guard now != way else { break }
            way = now
        }
        for watch in all.subtracting(watches) { inotify_rm_watch(descriptor, watch) }
        return before.0 != watches || before.1 != end
    }

    private struct Way: Equatable {
        /// The events to watch for in each folder.
        var folders: [String: UInt32] = [:]
        var end = ""
    }

    /// Events of a folder that is moved or removed itself.
    private static let own = UInt32(IN_MOVE_SELF | IN_DELETE_SELF)
    /// Events of a name in the folder that leads elsewhere.
    private static let names = UInt32(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO)

    /// Finds the way to a file, as path_resolution(7) goes it.
    private static func way(to path: String) -> Way {
        var way = Way()
        var folder = "/"
        var rest = path.split(separator: "/").map(String.init)
        var links = 0
        while let name = rest.first {
            rest.removeFirst()
            guard name != "." else { continue }
            guard name != ".." else {
                let above = folder.dropLast().lastIndex(of: "/") ?? folder.startIndex
                folder = folder[..<above] + "/"
                continue
            }
            way.end = folder + name
            way.folders[folder, default: own] |= 0
            var bytes = [CChar](repeating: 0, count: 4096)
            if readlink(way.end, &bytes, bytes.count - 1) > 0 {
                way.folders[folder]? |= names
                links += 1
                guard links <= 40 else { return way }
                let target = String(
                    decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)),
                    as: UTF8.self
                )
                if target.hasPrefix("/") { folder = "/" }
                rest = target.split(separator: "/").map(String.init) + rest
            } else if rest.isEmpty {
                way.folders[folder]? |= names | UInt32(IN_CLOSE_WRITE)
            } else {
                var status = stat()
                guard lstat(way.end, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
                    way.folders[folder]? |= names
                    return way
                }
                folder = way.end + "/"
            }
        }
        return way
    }
}
