// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// The file `next-id`: a number above every id ever given, whatever becomes of the database.
///
/// Ids are reserved ahead in blocks, so that it is written seldom; a clean end gives back what
/// was not used. After a crash up to one block of numbers is skipped: the counter in the
/// database could as well come from an older copy of it, and no id may come twice.
final class IDReservation: Sendable {
    private struct State {
        /// Every id given is below this.
        var bound: Int64
        /// Doubled with each block, so that 100,000 ids take a dozen writes of the file, and a
        /// crash after a few skips but a few.
        var block: Int64 = 16
    }

    private static let largestBlock: Int64 = 65_536

    private let path: String
    private let files: Files
    private let state: Mutex<State>

    /// Reads the file; a missing one, and one that is no number, reserves nothing.
    init(folder: String, files: Files) throws(FileFailure) {
        self.path = folder + "/next-id"
        self.files = files
        let content = try files.read(path, limit: 1_024) ?? []
        let text = String(decoding: content.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        self.state = Mutex(State(bound: max(0, Int64(text) ?? 0)))
    }

    var bound: Int64 { state.withLock { $0.bound } }

    /// Makes sure that the file names a bound above `id`, durably, before `id` is used.
    func cover(_ id: Int64) throws(FileFailure) {
        try state.withLock { state throws(FileFailure) in
            guard id >= state.bound else { return }
            let (bound, overflow) = id.addingReportingOverflow(state.block)
            try write(overflow ? .max : bound)
            state.bound = overflow ? .max : bound
            state.block = min(state.block * 2, Self.largestBlock)
        }
    }

    /// Sets the bound to exactly the next id: at the opening, and at a clean end.
    func settle(on next: Int64) throws(FileFailure) {
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
