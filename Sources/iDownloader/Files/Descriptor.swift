// SPDX-License-Identifier: Apache-2.0

import Glibc

/// An open file or folder that closes itself when nobody holds it any more.
///
/// Shared, not copied: whoever uses the number holds the object, so that no call can reach a
/// number which was closed and given to another file in between.
package final class Descriptor: Sendable {
    package let number: Int32
    /// Where it was opened and is closed; nil where the thread that drops the last reference may wait.
    ///
    /// close(2) does not return while the file system hangs.
    let lane: DiskLane?

    /// Takes the ownership of an open descriptor.
    init(owning number: Int32) {
        self.number = number
        lane = DiskLane.current
    }

    // Not through the funnel: Linux frees the number whatever close(2) answers, and what it could
    // report of lost writes was reported by fsync(2) before.
    deinit {
        if let lane, lane !== DiskLane.current { lane.close(number) } else { close(number) }
    }
}
