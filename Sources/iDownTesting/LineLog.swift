// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Lines that a server writes into a file before it answers: what was answered stands there.
struct LineLog: Sendable {
    let path: String

    /// All lines so far.
    var lines: [String] {
        guard let text = try? TestFile.text(of: path) else { return [] }
        return text.split(separator: "\n").map(String.init)
    }

    /// Deletes the file.
    func remove() { unlink(path) }
}
