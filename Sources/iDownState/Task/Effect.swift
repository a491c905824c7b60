// SPDX-License-Identifier: Apache-2.0

/// What is to be done after a decision, in the order given: persisted before announced.
package enum Effect: Hashable, Sendable {
    /// Save the record, in the transaction of the decision.
    case persist
    /// Delete the record, in the transaction of the decision.
    case erase
    /// Tell everybody what is different now.
    case announce
    /// Tell it together with what is told next of the task, which is soon.
    case announceLater
    case announceRemoved
    case startTransfer(AttemptNumber)
    /// End it; the bytes on disk are kept and checkpointed.
    case stopTransfer(AttemptNumber)
    /// Carry out the intent to delete, once no transfer holds the file.
    case deletePartial
    /// Carry out the move of the file, once no transfer holds it.
    case moveFile
    /// Report `retryDue` after this time, measured by a clock that runs during sleep.
    case scheduleRetry(after: Duration)
    /// Hold its transfer to so many bytes a second from now on; 0 for no limit.
    case limitSpeed(Int64)
    /// Let its transfer have so many connections from now on; nil takes the service's setting.
    case limitConnections(Int?)
    /// A slot or a task to fill one may have become free.
    case fillSlots

    /// Whether clients are told something, now or together with what comes next.
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
