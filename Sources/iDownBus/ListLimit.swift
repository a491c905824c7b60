// SPDX-License-Identifier: Apache-2.0

internal import DBus

/// Holds a list of tasks against the size that an answer may have.
enum ListLimit {
    /// The same tasks, if their answer fits into a message.
    ///
    /// - Throws: `LimitExceeded`.
    static func check(_ tasks: [TaskProperties]) throws(ManagerError) -> [TaskProperties] {
        var size = WireSize()
        for task in tasks {
            size.append(task.busValue)
            guard size.bytes <= Contract.maximumListBytes else {
                throw ManagerError(
                    .limitExceeded,
                    "the list of \(tasks.count) tasks is longer than"
                        + " \(Contract.maximumListBytes >> 20) MiB"
                )
            }
        }
        return tasks
    }
}
