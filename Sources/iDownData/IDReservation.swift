// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// The file `next-id`: numbers above every id and every serial ever given, even if the database is
/// lost.
///
/// Both are reserved in blocks, so that the file is seldom written; closing the store gives unused
/// ids back. After a crash the rest of the block of ids is skipped: the counter in the database is
/// not enough, because it may come from an older copy, and no id may be given twice.
///
/// Each run of the service reserves serials anew, and the database keeps the bound with the commit:
/// so a copy of the database from an earlier run is known by its lower bound. The database also keeps
/// when the file was last changed: a file that was restored from a copy with the database was changed
/// later. A file system that was set back as a whole, to a snapshot, cannot be told.
final class IDReservation: Sendable {
    /// The serials in the file.
    struct Serials {
        /// No serial above it was ever given.
        var bound: Int64 = 0
        /// A serial that was given: the last one, if the store was closed cleanly.
        var reached: Int64 = 0
    }

    private struct State {
        /// Every id given so far is below this number.
        var bound: Int64
        /// The size of the next block.
        ///
        /// It doubles each time, so that 100,000 ids take a dozen writes, while a crash after a few
        /// ids skips only a few.
        var block: Int64 = 16
        var serials = Serials()
        /// The last serial of this run.
        var serial: Int64 = 0
        /// Whether this run has reserved serials.
        var hasReserved = false
        /// When the file was last changed.
        var changeTime: Int64
    }

    private static let largestBlock: Int64 = 65_536
    /// How many serials are reserved at once; none of them is skipped after a crash.
    private static let blockOfSerials: Int64 = 1_024

    private let path: String
    private let files: Files
    private let state: Mutex<State>

    /// Reads the file; a file that is missing or holds no number reserves nothing.
    init(folder: String, files: Files) throws(FileFailure) {
        self.path = folder + "/next-id"
        self.files = files
        let content = try files.read(path, limit: 1_024) ?? []
        let numbers = String(decoding: content, as: UTF8.self).split(
            separator: "\n",
            omittingEmptySubsequences: false
        ).map { max(0, Int64($0) ?? 0) }
        let number = { (line: Int) in numbers.indices.contains(line) ? numbers[line] : 0 }
        self.state = Mutex(
            State(
                bound: number(0),
                // Clamped far below the maximum, because the file may hold any number.
                serials: Serials(
                    bound: min(number(1), .max / 2),
                    reached: min(number(2), .max / 2)
                ),
                changeTime: try Self.changeTime(of: path, files)
            )
        )
    }

    var bound: Int64 { state.withLock { $0.bound } }

    var serials: Serials { state.withLock { $0.serials } }

    /// When the file was last changed, in nanoseconds since 1970-01-01 UTC; 0 if there is no file.
    var changeTime: Int64 { state.withLock { $0.changeTime } }

    /// Makes sure that the file durably holds a number above `id`, before `id` is used.
    func reserve(through id: Int64) throws(FileFailure) {
        try state.withLock { state throws(FileFailure) in
            guard id >= state.bound else { return }
            let (bound, overflow) = id.addingReportingOverflow(state.block)
            var new = state
            new.bound = overflow ? .max : bound
            try write(&new)
            new.block = min(state.block * 2, Self.largestBlock)
            state = new
        }
    }

    /// Makes sure that the file durably holds a number not below the next serial.
    ///
    /// - Returns: that number, to be kept in the commit that uses the serial.
    func reserveSerial() throws(FileFailure) -> Int64 {
        try state.withLock { state throws(FileFailure) in
            guard !state.hasReserved || state.serial >= state.serials.bound else {
                return state.serials.bound
            }
            var new = state
            new.serials.reached = state.serial
            let last = min(max(state.serials.bound, state.serial), .max / 2)
            new.serials.bound = last + Self.blockOfSerials
            try write(&new)
            new.hasReserved = true
            state = new
            return new.serials.bound
        }
    }

    /// Takes note of the newest serial.
    func noteSerial(_ serial: Int64) { state.withLock { $0.serial = max($0.serial, serial) } }

    /// Sets the bound to the next id: when the store opens, and when it closes cleanly.
    ///
    /// - Parameters:
    ///   - next: the next id.
    ///   - reached: the newest serial when the store closes; nil when it opens.
    /// - Throws: the error of writing the file.
    func setBound(to next: Int64, reached: Int64? = nil) throws(FileFailure) {
        try state.withLock { state throws(FileFailure) in
            var new = state
            new.bound = next
            if let reached { new.serials.reached = reached }
            guard new.bound != state.bound || new.serials.reached != state.serials.reached else {
                return
            }
            try write(&new)
            state = new
        }
    }

    private func write(_ state: inout State) throws(FileFailure) {
        let numbers = [state.bound, state.serials.bound, state.serials.reached]
        let text = numbers.map { "\($0)\n" }.joined()
        try files.replace(path, with: Array(text.utf8))
        state.changeTime = try Self.changeTime(of: path, files)
    }

    /// Returns the time of the last change, which no program can set, unlike that of the content:
    /// inode(7), `ctime`.
    private static func changeTime(
        of path: String,
        _ files: Files
    ) throws(FileFailure) -> Int64 {
        guard let time = try files.status(path)?.st_ctim else { return 0 }
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
