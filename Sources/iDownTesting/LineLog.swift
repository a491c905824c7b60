// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The log file of a server, which writes each line before it answers, so that every answered
/// request is in it.
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
