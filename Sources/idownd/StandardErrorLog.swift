// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Logging
import Synchronization
import iDownSettings

/// Writes lines to standard error on a thread of its own, so that a full pipe whose reader does not
/// read blocks no other thread.
///
/// Up to 256 KiB wait for the thread. Lines beyond that are dropped and counted, and a line that tells
/// their number takes their place.
final class StandardErrorWriter: Sendable {
    private static let mostWaiting = 256 << 10

    private struct State {
        var waiting: [UInt8] = []
        var dropped = 0
        var isWriting = false
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "org.idown.log")

    /// Writes a line soon; never waits.
    func write(_ line: [UInt8]) {
        let begins = state.withLock { state in
            guard state.waiting.count + line.count <= Self.mostWaiting else {
                state.dropped += 1
                return false
            }
            state.waiting += line
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if begins { queue.async { [self] in writeAll() } }
    }

    /// Returns when all lines are written, but waits no longer than this.
    func finish(within limit: DispatchTimeInterval) {
        let end = DispatchSemaphore(value: 0)
        queue.async { end.signal() }
        _ = end.wait(timeout: .now() + limit)
    }

    private func writeAll() {
        while let piece = state.withLock({ state in next(&state) }) {
            var rest = piece[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count)
                }
                if count >= 0 {
                    rest = rest.dropFirst(count)
                } else if errno == EAGAIN {
                    // Another process has made the shared pipe non-blocking.
                    var writable = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
                    poll(&writable, 1, -1)
                } else if errno != EINTR {
                    // The service goes on even if the log cannot be written.
                    break
                }
            }
        }
    }

    private func next(_ state: inout State) -> [UInt8]? {
        defer { (state.waiting, state.dropped) = ([], 0) }
        if state.dropped > 0 {
            let text = "\(state.dropped) lines of the log were lost, because nobody read it"
            state.waiting += StandardErrorLog.line(.warning, text)
        }
        state.isWriting = !state.waiting.isEmpty
        return state.isWriting ? state.waiting : nil
    }
}

/// Writes log lines to standard error: with priorities `<N>` for the journal (sd-daemon(3)),
/// otherwise with the level's name.
struct StandardErrorLog: LogHandler {
    var metadata: Logger.Metadata = [:]

    /// The lowest level that is logged, shared by all loggers.
    private static let threshold = Mutex(Logger.Level.info)
    /// The writer of all lines of the process.
    static let writer = StandardErrorWriter()
    /// Whether standard error is the journal's stream, whose device and inode JOURNAL_STREAM names.
    ///
    /// The variable alone is not enough: a program started in a terminal may inherit that of
    /// another stream.
    private static let goesToJournal = {
        var status = stat()
        guard let stream = getenv("JOURNAL_STREAM"), fstat(STDERR_FILENO, &status) == 0 else {
            return false
        }
        return String(cString: stream) == "\(status.st_dev):\(status.st_ino)"
    }()

    /// The level of all copies, because the settings may change it while the service runs.
    var logLevel: Logger.Level {
        get { Self.threshold.withLock(\.self) }
        set { Self.threshold.withLock { $0 = newValue } }
    }

    /// Applies changed settings.
    static func apply(_ settings: Settings) {
        threshold.withLock { $0 = Logger.Level(rawValue: settings.logLevel) ?? .info }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        Self.writer.write(Self.line(event.level, Self.oneLine(event.message.description)))
    }

    fileprivate static func line(_ level: Logger.Level, _ text: String) -> [UInt8] {
        let start = goesToJournal ? "<\(level.priority)>" : "\(level.rawValue): "
        return Array((start + text + "\n").utf8)
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
