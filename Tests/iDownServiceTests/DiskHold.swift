// SPDX-License-Identifier: Apache-2.0

import Dispatch
import iDownState
import iDownTesting
import iDownloader

/// A disk that hangs for one task, from now until it is let go.
final class DiskHold: Sendable {
    private let door = DispatchSemaphore(value: 0)
    private let entered = FaultServer.Gate()
    private let disk: DiskQueue
    private let key: Int64

    /// Returns once the task's lane stands still.
    convenience init(_ disk: DiskQueue, of id: TaskID) async {
        self.init(disk, key: id.rawValue)
        await entered.waitUntilOpen()
    }

    private init(_ disk: DiskQueue, key: Int64) {
        self.disk = disk
        self.key = key
        let (door, entered) = (door, entered)
        // At once, so that it stands behind all that waits for the disk by now.
        Task.immediate {
            await disk.run(key: key, in: "/") {
                entered.open()
                door.wait()
            }
        }
    }

    deinit { door.signal() }

    /// What waits for the disk goes on.
    func release() { door.signal() }

    /// Lets through what waits for the disk at this moment, and nothing that comes later.
    func step() async -> DiskHold {
        let next = DiskHold(disk, key: key)
        release()
        await next.entered.waitUntilOpen()
        return next
    }
}
