// SPDX-License-Identifier: Apache-2.0

/// Why a transfer ends without a file.
package enum TransferEnd: Error, Hashable, Sendable {
    /// The user or the service stopped it, or the task is in a later attempt: its result is dropped.
    case stopped
    case failed(Failure)
    /// It cannot continue for now, and the cause is not the task.
    case held(Obstacle)

    /// Whether it means that the file is not the right one.
    package var spoilsContent: Bool {
        if case .failed(let failure) = self { return failure.code.spoilsContent }
        return false
    }
}
