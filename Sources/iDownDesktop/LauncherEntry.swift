// SPDX-License-Identifier: Apache-2.0

import DBus

/// Shows progress on the program's icon in docks and task bars, with the Launcher API's signal
/// `com.canonical.Unity.LauncherEntry`, which is broadcast.
actor LauncherEntry {
    /// The number and the progress that the icon shows.
    struct Content: Hashable, Sendable {
        var count: Int64 = 0
        /// Progress in whole percent; nil where no task's size is known.
        var percent: Int?

        init() {}

        /// Sums up the tasks that download; tasks of unknown size count, but add nothing to the
        /// progress.
        init(_ tasks: some Collection<DesktopTask>) {
            count = Int64(tasks.count)
            var (bytes, total) = (0.0, 0.0)
            for task in tasks {
                guard let all = task.totalBytes, all > 0 else { continue }
                bytes += Double(min(task.bytes, all))
                total += Double(all)
            }
            percent = total > 0 ? Int(bytes / total * 100) : nil
        }

        /// The properties in the signal `Update`.
        var properties: [String: Value] {
            [
                "progress": .double(Double(percent ?? 0) / 100),
                "progress-visible": .boolean(percent != nil),
                "count": .int64(count),
                "count-visible": .boolean(count > 0),
            ]
        }
    }

    static let application = "application://org.idown.Manager1.desktop"
    static let path: ObjectPath = "/org/idown/LauncherEntry"
    static let update = Signal<String, [String: Value]>(
        "com.canonical.Unity.LauncherEntry",
        "Update",
        arguments: ["app_uri", "properties"]
    )

    private let connection: Connection
    private var lastSent = Content()

    init(_ connection: Connection) { self.connection = connection }

    /// Emits the signal if the content has changed.
    ///
    /// Updates come at most twice a second.
    func receive(_ news: DesktopNews) async {
        let content = Content(news.active.values)
        // A bus that does not read must not make the outgoing queue grow without limit.
        guard content != lastSent, await connection.outgoingBytes < 64 << 10 else { return }
        lastSent = content
        try? await connection.emit(
            Self.update,
            at: Self.path,
            Self.application,
            content.properties
        )
    }
}
