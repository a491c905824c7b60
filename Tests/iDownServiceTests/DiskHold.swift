// SPDX-License-Identifier: Apache-2.0

import Dispatch
import iDownState
import iDownTesting
import iDownloader

/// A disk that hangs for one task, from now until it is let go.
final class DiskHold: Sendable {
    private let door = DispatchSemaphore(value: 0)
    private let entered = FaultServer.Gate()
    private let hub: Hub
    private let key: Int64

    /// Returns once the task's lane stands still.
    convenience init(_ hub: Hub, of id: TaskID) async {
        self.init(hub, key: id.rawValue)
        await entered.waitUntilOpen()
    }

    private init(_ hub: Hub, key: Int64) {
        self.hub = hub
        self.key = key
        let (door, entered) = (door, entered)
        // At once, so that it stands behind all that waits for the disk by now.
        Task.immediate {
            await hub.disk.run(key: key, in: hub.files) {
                entered.open()
                door.wait()
            }
        }
    }

    deinit { door.signal() }

    /// What waits for the disk goes on.
    func release() { door.signal() }

    /// Lets through what waits for the disk at this moment, and nothing that comes later.
    ///
    /// - Parameter isSo: looks at something that is there before what follows from it comes to the
    ///   disk.
    /// - Returns: what holds the disk now; nil where it is so by now, and nothing was let through.
    func step(unless isSo: () async throws -> Bool) async rethrows -> DiskHold? {
        let next = DiskHold(hub, key: key)
        // Looked at with the next hold in line: what follows later comes behind that.
        if try await isSo() { return nil }
        release()
        await next.entered.waitUntilOpen()
        return next
    }
}
