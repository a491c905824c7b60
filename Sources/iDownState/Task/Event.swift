// SPDX-License-Identifier: Apache-2.0

/// What a transfer reports.
///
/// It waits for each to be committed before it goes on.
package enum TransferEvent: Hashable, Sendable {
    /// The answer is judged and the file is open: `segments` of it may be kept, as part of this
    /// version. Comes before the first byte, and again before bytes on disk lose their worth.
    case opened(LocalFile, RemoteVersion, keeping: SegmentMap)
    /// All bytes came in one go: they are on disk and synced, in a file that has no name yet and is
    /// about to get its final one. Comes in place of `opened` and `publishing`, and again with the
    /// next name where that one is taken. No byte is claimed before the file has its name.
    case arrived(LocalFile, RemoteVersion)
    /// These bytes are on disk and synced.
    case checkpointed(SegmentMap)
    /// The complete file is a metalink, and these tasks stand for the files that it lists. Is
    /// recorded in the transaction that adds the tasks, and comes again after a crash.
    case listed([TaskID])
    /// All bytes are on disk and synced; the file is about to be renamed to this name.
    case publishing(name: String)
    /// The file stands under its final name, and the folder is synced; `movedTo` is where that
    /// folder is now, if somebody has moved it meanwhile.
    case completed(name: String, size: Int64, Integrity, movedTo: String? = nil)
    /// It is over without the file.
    case failed(Failure)
    /// It is over, and what it met is not the task's fault.
    case held(by: Obstacle)
}

/// What happens to a task without being asked.
///
/// Never an error: what comes too late is dropped.
package enum Event: Hashable, Sendable {
    /// The scheduler gives it a slot; `order` is its place among all starts.
    case slotGranted(order: Int64)
    /// The scheduler takes its slot away.
    case displaced
    /// It would have got a slot, or has one and loses it, because of this.
    case held(by: Obstacle)
    /// What it waits for is there: the network, power, room on the disk.
    case released
    /// The time of the back-off is over.
    case retryDue
    /// The service has just started: nothing runs yet.
    case serviceStarted
    /// The partial file was looked at: its size in bytes, nil when it is not there or not ours.
    case partialFound(size: Int64?)
    /// The file of an open publication was found under its final name, which lasts.
    case publicationFound(name: String, size: Int64)
    /// The partial file of an intent to delete is gone.
    case partialDeleted
    /// A step of the file's move to this place.
    case move(MoveEvent, to: Move.Place)
    /// The copy is gone that a move has left at the old place.
    case leftoverDeleted
    /// The finished file was read again; nil where its bytes are what they should be.
    case verified(Failure?)
    case transfer(TransferEvent, of: AttemptNumber)
}
