// SPDX-License-Identifier: Apache-2.0

import Glibc

/// An open file or folder, closed when the last reference to this object goes.
///
/// A caller holds the object while it uses the number: otherwise the kernel could close the number
/// and give it to another file in between.
package final class Descriptor: Sendable {
    package let number: Int32
    /// The disk's thread that opened the descriptor and closes it; nil if the thread that drops the
    /// last reference may wait.
    ///
    /// It is needed because close(2) does not return while the file system hangs.
    let thread: DiskThread?

    /// Takes ownership of an open descriptor.
    init(owning number: Int32) {
        self.number = number
        thread = DiskThread.current
    }

    // This does not go through `FileSystem.call`: Linux frees the number whatever close(2) returns,
    // and fsync(2) has already reported the lost writes that close(2) could report.
    deinit {
        guard let thread, thread !== DiskThread.current else {
            close(number)
            return
        }
        thread.async { [number] in close(number) }
    }
}
