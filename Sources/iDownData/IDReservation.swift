// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// The file `next-id`: a number above every id ever given, even if the database is lost.
///
/// Ids are reserved in blocks, so that the file is seldom written; closing the store gives unused
/// ids back. After a crash the rest of the block is skipped: the counter in the database is not
/// enough, because it may come from an older copy, and no id may be given twice.
final class IDReservation: Sendable {
    private struct State {
        /// Every id given so far is below this number.
        var bound: Int64
        /// The size of the next block.
        ///
        /// It doubles each time, so that 100,000 ids take a dozen writes, while a crash after a few
        /// ids skips only a few.
        var block: Int64 = 16
    }

    private static let largestBlock: Int64 = 65_536

    private let path: String
    private let files: Files
    private let state: Mutex<State>

    /// Reads the file; a file that is missing or holds no number reserves nothing.
    init(folder: String, files: Files) throws(FileFailure) {
        self.path = folder + "/next-id"
        self.files = files
        let content = try files.read(path, limit: 1_024) ?? []
        let text = String(decoding: content.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        self.state = Mutex(State(bound: max(0, Int64(text) ?? 0)))
    }

    var bound: Int64 { state.withLock { $0.bound } }

    /// Makes sure that the file durably holds a number above `id`, before `id` is used.
    func reserve(through id: Int64) throws(FileFailure) {
        try state.withLock { state throws(FileFailure) in
            guard id >= state.bound else { return }
            let (bound, overflow) = id.addingReportingOverflow(state.block)
            try write(overflow ? .max : bound)
            state.bound = overflow ? .max : bound
            state.block = min(state.block * 2, Self.largestBlock)
        }
    }

    /// Sets the bound to the next id: when the store opens, and when it closes cleanly.
    func setBound(to next: Int64) throws(FileFailure) {
        try state.withLock { state throws(FileFailure) in
            guard state.bound != next else { return }
            try write(next)
            state.bound = next
        }
    }

    private func write(_ bound: Int64) throws(FileFailure) {
        try files.replace(path, with: Array("\(bound)\n".utf8))
    }
}
