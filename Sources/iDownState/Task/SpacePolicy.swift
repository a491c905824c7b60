// SPDX-License-Identifier: Apache-2.0

/// How much room a file needs, and who goes on when there is some again.
package enum SpacePolicy {
    /// Stays free beside the file (16 MiB): a desktop whose disk is full to the last byte cannot
    /// even save its session.
    package static let reserve: Int64 = 16 << 20

    /// How many bytes must be free before `missing` more are written, the reserve included.
    package static func needed(for missing: Int64) -> Int64 {
        let (sum, overflow) = missing.addingReportingOverflow(reserve)
        return overflow ? .max : sum
    }

    /// A task that waits for room.
    package struct Waiter: Hashable, Sendable {
        package let id: TaskID
        /// The file system, as stat(2) numbers it.
        package let device: UInt64
        /// How many bytes must be free, the reserve included; 0 or more.
        package let neededSpace: Int64

        package init(id: TaskID, device: UInt64, neededSpace: Int64) {
            self.id = id
            self.device = device
            self.neededSpace = max(0, neededSpace)
        }
    }

    /// Chooses those that fit beside each other.
    ///
    /// One that is too large keeps no smaller one behind it waiting.
    ///
    /// - Parameters:
    ///   - waiters: best first.
    ///   - free: the free bytes of each file system; one that is missing lets everybody go, so
    ///     that the transfer finds out what is wrong with it.
    /// - Returns: who may go on, in the same order.
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
