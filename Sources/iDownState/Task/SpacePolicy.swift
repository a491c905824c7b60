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

    /// Chooses the waiting tasks whose files fit together.
    ///
    /// A task that needs too much does not keep smaller ones behind it waiting.
    ///
    /// - Parameters:
    ///   - waiting: the tasks, best first.
    ///   - folders: the device number of each folder's file system and its free bytes. Where a
    ///     folder is missing, its tasks are released, so that their transfers find out what is
    ///     wrong with it.
    /// - Returns: the tasks that may continue, in the same order.
    package static func released(
        _ waiting: [TaskRecord],
        into folders: [String: (device: UInt64, bytes: Int64)]
    ) -> [TaskID] {
        var free = Dictionary(folders.values.map { ($0.device, $0.bytes) }) { min($0, $1) }
        let released = waiting.filter { task in
            let needed = max(0, task.failure?.neededSpace ?? 0)
            guard let device = folders[task.request.directory]?.device, let room = free[device]
            else { return true }
            guard room >= needed else { return false }
            free[device] = room - max(0, needed - reserve)
            return true
        }
        return released.map(\.id)
    }
}
