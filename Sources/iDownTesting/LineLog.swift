// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Lines that one side adds and the other looks at.
final class LineLog: Sendable {
    private let state = Mutex<[String]>([])

    /// All lines so far.
    var lines: [String] { state.withLock { $0 } }

    /// Adds a line.
    func add(_ line: String) { state.withLock { $0.append(line) } }
}
