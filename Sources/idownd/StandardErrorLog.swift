// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logging
import Synchronization

/// The least that is written to the log, by all who write to it.
final class LogThreshold: Sendable {
    private let stored = Mutex(Logger.Level.info)

    var level: Logger.Level {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }
}

/// Writes log lines to standard error: with `<N>` priorities where the journal reads them
/// (sd-daemon(3)), with the level's name elsewhere.
struct StandardErrorLog: LogHandler {
    let threshold: LogThreshold
    var metadata: Logger.Metadata = [:]
    private let goesToJournal = getenv("JOURNAL_STREAM") != nil

    /// Of all copies at once: the settings say it, and may change.
    var logLevel: Logger.Level {
        get { threshold.level }
        set { threshold.level = newValue }
    }

    init(threshold: LogThreshold) { self.threshold = threshold }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let start = goesToJournal ? "<\(event.level.priority)>" : "\(event.level.rawValue): "
        let line = Array((start + Self.oneLine(event.message.description) + "\n").utf8)
        // A log that nobody takes is no reason to stop.
        _ = write(STDERR_FILENO, line, line.count)
    }

    /// One line an entry, whatever a server or a file name puts into it.
    private static func oneLine(_ text: String) -> String {
        // The controls in UTF-8: up to 1F, 7F, and some of what begins with C2.
        guard text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == 0xC2 }) else {
            return text
        }
        return text.unicodeScalars.map { scalar in
            scalar.properties.generalCategory == .control ? " " : String(scalar)
        }.joined()
    }
}

extension Logger.Level {
    /// syslog(3)'s number.
    fileprivate var priority: Int {
        switch self {
        case .critical: 2
        case .error: 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        case .debug, .trace: 7
        }
    }
}
