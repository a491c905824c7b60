// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logging
import Synchronization

/// The lowest level that is logged, shared by all loggers.
final class LogThreshold: Sendable {
    private let stored = Mutex(Logger.Level.info)

    var level: Logger.Level {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }
}

/// Writes log lines to standard error: with priorities `<N>` for the journal (sd-daemon(3)),
/// otherwise with the level's name.
struct StandardErrorLog: LogHandler {
    let threshold: LogThreshold
    var metadata: Logger.Metadata = [:]
    private let goesToJournal = getenv("JOURNAL_STREAM") != nil

    /// The level of all copies, because the settings may change it while the service runs.
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
        // The service goes on even if the log cannot be written.
        _ = write(STDERR_FILENO, line, line.count)
    }

    /// Replaces control characters by blanks, so that each entry is one line even if a server or a
    /// file name puts some into it.
    private static func oneLine(_ text: String) -> String {
        // Control characters in UTF-8: bytes up to 1F, 7F, and some sequences that begin with C2.
        guard text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == 0xC2 }) else {
            return text
        }
        return text.unicodeScalars.map { scalar in
            scalar.properties.generalCategory == .control ? " " : String(scalar)
        }.joined()
    }
}

extension Logger.Level {
    /// The priority's number in syslog(3).
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
