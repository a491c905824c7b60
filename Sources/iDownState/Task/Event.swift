// SPDX-License-Identifier: Apache-2.0

/// What a transfer reports.
///
/// The transfer continues only after each event is committed.
package enum TransferEvent: Hashable, Sendable {
    /// An answer offers this version, and the attempt ends before there is a file for it: the disk
    /// may have no room. With the task's URL that was asked, without its login: a client may have
    /// given the task another one meanwhile.
    case answered(RemoteVersion, of: String)
    /// The answer is judged and the file is open; its bytes in `segments` are kept as part of this
    /// version. Comes before the first byte, and again before bytes on disk become worthless.
    case opened(LocalFile, RemoteVersion, keeping: SegmentMap)
    /// All bytes came in one go. They are on disk and synced, in a file without a name that is
    /// about to be published. Comes in place of `opened` and `publishing`, and again with the next
    /// name where one is taken. No byte is claimed before the file is published.
    case arrived(LocalFile, RemoteVersion)
    /// These bytes are on disk and synced.
    case checkpointed(SegmentMap)
    /// The complete file is a metalink, and these tasks stand for the files that it lists. The
    /// event is recorded in the transaction that adds the tasks, and comes again after a crash.
    case listed([TaskID])
    /// All bytes are on disk and synced; the file is about to be renamed to this name.
    case publishing(name: String)
    /// The file has its final name, and the folder is synced; `movedTo` is the folder's present
    /// path if somebody has moved it meanwhile.
    case completed(name: String, size: Int64, Integrity, movedTo: String? = nil)
    /// The transfer ended without the file.
    case failed(Failure)
    /// The transfer ended because of an obstacle that is not the task's fault.
    case held(by: Obstacle)
}

/// What happens to a task without a command.
///
/// An event is never an error: one that comes too late is dropped.
package enum Event: Hashable, Sendable {
    /// The scheduler gives the task a slot; `order` is the place of this start among all starts.
    case slotGranted(order: Int64)
    /// The scheduler takes the slot away.
    case displaced
    /// The task cannot start, or has to give its slot back, because of this obstacle.
    case held(by: Obstacle)
    /// The obstacle is gone: the network, power or disk space is back.
    case released
    /// The back-off is over.
    case retryDue
    /// The network is back: a try that it has failed need not wait for its back-off.
    case networkBack
    /// The service has just started, and no transfer runs yet.
    case serviceStarted
    /// The partial file was looked at: its size in bytes; nil where it is missing or not ours.
    case partialFound(size: Int64?)
    /// The file of an open publication was found under its final name, and the name is durable.
    case publicationFound(name: String, size: Int64)
    /// The partial file of an intent to delete is gone.
    case partialDeleted
    /// The partial file of an intent to delete could not be deleted; the next try comes after this
    /// wait.
    case deletionFailed(Failure, again: Duration)
    /// A step of the move of the file to this place.
    case move(MoveEvent, to: Move.Place)
    /// The copy that a move has left at the old place is deleted.
    case leftoverDeleted
    /// The finished file was verified; nil where its bytes are right.
    case verified(Failure?)
    case transfer(TransferEvent, of: AttemptNumber)
}
