// SPDX-License-Identifier: Apache-2.0

/// What to do after a decision, in the given order: the record is saved before clients are told.
package enum Effect: Hashable, Sendable {
    /// Save the record, in the transaction of the decision.
    case persist
    /// Delete the record, in the transaction of the decision.
    case erase
    /// Tell clients what has changed.
    case announce
    /// Tell clients together with the next change of the task, which comes soon.
    case announceLater
    case announceRemoved
    case startTransfer(AttemptNumber)
    /// End the transfer; the bytes on disk are kept and checkpointed.
    case stopTransfer(AttemptNumber)
    /// Carry out the intent to delete, once no transfer uses the file.
    case deletePartial
    /// Carry out the move of the file, once no transfer uses it.
    case moveFile
    /// Report `retryDue` after this time, measured by a clock that runs during suspend.
    case scheduleRetry(after: Duration)
    /// Limit the transfer to this many bytes a second from now on; 0 for no limit.
    case limitSpeed(Int64)
    /// Limit the transfer to this many connections from now on; nil uses the service's setting.
    case limitConnections(Int?)
    /// Fill slots: a slot, or a task that can use one, may have become available.
    case fillSlots

    /// Whether clients are told something, now or with the next change.
    package var isNews: Bool {
        switch self {
        case .announce, .announceLater, .announceRemoved: true
        case .persist, .erase, .startTransfer, .stopTransfer, .deletePartial, .moveFile,
            .scheduleRetry,
            .limitSpeed, .limitConnections, .fillSlots:
            false
        }
    }
}
