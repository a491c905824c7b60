// SPDX-License-Identifier: Apache-2.0

import Glibc

/// An empty file that records that something has happened once.
package struct FirstUse: Sendable {
    private let path: String

    /// - Parameters:
    ///   - name: What has happened.
    ///   - folder: An existing folder.
    package init(of name: String, folder: String) { path = "\(folder)/\(name)" }

    /// Records that it happens now.
    ///
    /// - Returns: Whether it is the first time; false if that cannot be recorded, because the user
    ///   would be told again each time.
    package func begins() -> Bool {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        close(file)
        return true
    }
}
