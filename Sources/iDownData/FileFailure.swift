// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A failed system call on a file.
package struct FileFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the call, as its manual page has it.
    package let operation: String
    package let path: String
    /// The errno.
    package let code: Int32

    /// Whether the error tells nothing about the file, and may pass: no descriptor or memory was
    /// free, or the disk did not answer rightly.
    var mayPass: Bool { [EMFILE, ENFILE, ENOMEM, EIO, ESTALE].contains(code) }

    package var description: String { "\(operation) \(path): \(String(cString: strerror(code)))" }
}
