// SPDX-License-Identifier: Apache-2.0

/// How much disk space a file needs, and which tasks continue when there is some again.
package enum SpacePolicy {
    /// How much stays free beside the file (16 MiB): on a completely full disk, a desktop cannot
    /// even save its session.
    package static let reserve: Int64 = 16 << 20

    /// Returns how many bytes must be free before `missing` more are written, the reserve included.
    package static func needed(for missing: Int64) -> Int64 {
        let (sum, overflow) = missing.addingReportingOverflow(reserve)
        return overflow ? .max : sum
    }

    /// A task that waits for disk space.
    package struct Waiter: Hashable, Sendable {
        package let id: TaskID
        /// The device number of the file system, from stat(2).
        package let device: UInt64
        /// How many bytes must be free, the reserve included; 0 or more.
        package let neededSpace: Int64

        package init(id: TaskID, device: UInt64, neededSpace: Int64) {
            self.id = id
            self.device = device
            self.neededSpace = max(0, neededSpace)
        }
    }

    /// Chooses the waiting tasks whose files fit together.
    ///
    /// A task that needs too much does not keep smaller ones behind it waiting.
    ///
    /// - Parameters:
    ///   - waiters: the tasks, best first.
    ///   - free: the free bytes of each file system. Where one is missing, its tasks are released,
    ///     so that their transfers find out what is wrong with it.
    /// - Returns: the tasks that may continue, in the same order.
    package static func released(_ waiters: [Waiter], free: [UInt64: Int64]) -> [TaskID] {
        var free = free
        var released: [TaskID] = []
        for waiter in waiters {
            if let room = free[waiter.device] {
                guard room >= waiter.neededSpace else { continue }
                free[waiter.device] = room - max(0, waiter.neededSpace - reserve)
            }
            released.append(waiter.id)
        }
        return released
    }
}
