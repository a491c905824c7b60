// SPDX-License-Identifier: Apache-2.0

/// Why a transfer ends without a file.
package enum TransferEnd: Error, Hashable, Sendable {
    /// It was asked to stop.
    case stopped
    /// The task has moved on; nobody waits for this transfer.
    case superseded
    case failed(Failure)
    /// It cannot go on for now, and that is not the task's fault.
    case held(Obstacle)

    /// Whether it says that the file is not the right one.
    package var spoilsContent: Bool {
        if case .failed(let failure) = self { return failure.code.spoilsContent }
        return false
    }
}
