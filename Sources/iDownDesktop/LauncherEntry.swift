// SPDX-License-Identifier: Apache-2.0

import DBus

/// Shows progress at the program's icon in docks and task bars: the Launcher API's
/// `com.canonical.Unity.LauncherEntry`, which is broadcast for whoever shows it.
actor LauncherEntry {
    /// What is shown.
    struct Look: Hashable, Sendable {
        var count: Int64 = 0
        /// In whole percent; nil where nothing is known.
        var percent: Int?

        init() {}

        /// What is to be shown of the tasks that download.
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

        /// The arguments of the signal `Update`.
        var arguments: [Value] {
            let properties: [String: Value] = [
                "progress": .double(Double(percent ?? 0) / 100),
                "progress-visible": .boolean(percent != nil),
                "count": .int64(count),
                "count-visible": .boolean(count > 0),
            ]
            return [.string(LauncherEntry.application), properties.busValue]
        }
    }

    static let application = "application://org.idown.Manager1.desktop"
    static let path: ObjectPath = "/org/idown/LauncherEntry"
    static let interface: InterfaceName = "com.canonical.Unity.LauncherEntry"

    private let connection: Connection
    private var shown = Look()

    init(_ connection: Connection) { self.connection = connection }

    /// Tells what has changed; comes at most twice a second.
    func take(_ news: DesktopNews) async {
        let look = Look(news.active.values)
        // Whoever does not read must not make our queue grow.
        guard look != shown, await connection.outgoingBytes < 64 << 10 else { return }
        shown = look
        try? await connection.emit(Self.interface, "Update", at: Self.path, look.arguments)
    }
}
