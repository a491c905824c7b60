// SPDX-License-Identifier: Apache-2.0

/// The move of a task's file to another place; each step is recorded before it is made.
package enum Move: Hashable, Sendable {
    /// The file is to be moved to this place.
    ///
    /// `made` is the file that is about to appear there: the file itself under its new name, or a
    /// copy on another file system. It is recorded first, so that it is known after a crash.
    case to(Place, made: LocalFile?)
    /// A complete copy of the file is durable at this place.
    ///
    /// The record still names the original, which is deleted next if the copy is still there.
    case copied(Place, LocalFile)
    /// The file is in place; the original in this folder could not be deleted yet.
    case from(directory: String, LocalFile)

    /// Where the file is being moved to; nil once it is there.
    package var destination: Place? {
        switch self {
        case .to(let place, _), .copied(let place, _): place
        case .from: nil
        }
    }

    /// A folder, absolute and with links resolved, and the final name that the file is to have
    /// there.
    package struct Place: Hashable, Sendable {
        package let directory: String
        package let name: String

        package init(directory: String, name: String) {
            self.directory = directory
            self.name = name
        }
    }
}

/// A step of a move.
package enum MoveEvent: Hashable, Sendable {
    /// This file is about to appear at the new place.
    case making(LocalFile)
    /// A copy of these ranges is durable at the new place under this name.
    case copied(LocalFile, SegmentMap)
    /// The file is durable at the new place under this name; `leavesCopy` says that the original
    /// may still exist.
    case arrived(LocalFile, leavesCopy: Bool)
    /// The partial file no longer exists, so there is nothing to move.
    case lost
    /// The file stays where it is; nil where the user wanted that.
    case failed(Failure?)
}

extension TaskRecord {
    /// Where the file is being moved to; nil where it stays.
    package var destination: Move.Place? { move?.destination }

    /// Where the file is, or is being moved to; nil while there is none.
    fileprivate var place: Move.Place? {
        destination ?? file.map { Move.Place(directory: request.directory, name: $0.name) }
    }

    /// Whether the file is being moved: no transfer starts before it has arrived.
    package var isMoving: Bool { destination != nil }

    /// Whether the original of a copied file still has to be deleted.
    var leavesCopy: Bool {
        guard case .from = move else { return false }
        return true
    }

    /// Records a step of the move to this place; a step that comes too late is dropped.
    mutating func apply(_ event: MoveEvent, to place: Move.Place) -> [Effect] {
        guard destination == place, !isDeleting, let file else { return [] }
        switch event {
        case .making(let made):
            move = .to(place, made: made)
            return [.persist]
        case .copied(let copy, let copied):
            // A copy without all that the record claims by now is made anew.
            if copied == segments { move = .copied(place, copy) }
            return [.persist]
        case .arrived(let moved, let leavesCopy):
            move = leavesCopy ? .from(directory: request.directory, file) : nil
            if place.name != file.name { request.fileName = place.name }
            request.directory = place.directory
            self.file = moved
            // What has failed at the old place is over, unless the task waits or has ended for it.
            let needsFailure = state.isBackOff || [.failed, .waiting(.space)].contains(state)
            if failure?.code.isOfSource == false, !needsFailure { failure = nil }
        case .lost where state != .completed:
            move = nil
            if place.name != file.name { request.fileName = place.name }
            request.directory = place.directory
            self.file = nil
            forgetContent()
        case .lost:
            move = nil
        case .failed(let failure):
            move = nil
            self.failure = failure ?? self.failure
        }
        // The task has kept its slot during the move: its next transfer starts now.
        if state == .downloading { return [.persist, .announce, .startTransfer(attempt)] }
        return [.persist, .announce, .fillSlots]
    }

    /// Records that the original of a copied file is deleted.
    mutating func forgetLeftover() -> [Effect] {
        guard case .from = move else { return [] }
        move = nil
        return [.persist]
    }
}

extension TaskEdit {
    /// Returns the place of a task's file after the edit; nil where the file stays in place.
    ///
    /// - Throws: `deleting`, `publishing` or `moving`, where that has to end first.
    func place(of record: TaskRecord) throws(Refusal) -> Move.Place? {
        guard record.place != nil, let new = wantedPlace(of: record) else { return nil }
        if record.isDeleting { throw .deleting }
        if case .publish = record.intent { throw .publishing }
        guard record.move == nil else { throw .moving }
        return new
    }

    /// Fills in what the edit does not say of the file's place, where it takes the place of a move
    /// that is not over: who asked for that move was told that it is done.
    ///
    /// - Parameters:
    ///   - place: Where the file was to go; nil where it was not moving.
    ///   - record: The task.
    /// - Returns: The whole edit.
    package func filledIn(from place: Move.Place?, of record: TaskRecord) -> TaskEdit {
        guard directory != nil || fileName != nil, let place else { return self }
        var edit = self
        edit.directory = directory ?? place.directory
        if place.name != record.file?.name { edit.fileName = fileName ?? place.name }
        return edit
    }

    /// Returns the place that the task's file is to have after the edit.
    ///
    /// Nil where the edit does not change the place, and while no name was chosen.
    package func wantedPlace(of record: TaskRecord) -> Move.Place? {
        guard directory != nil || fileName != nil else { return nil }
        let now = record.place
        // Equal texts may have other bytes, in another of Unicode's forms: the file keeps those that
        // are on record.
        let changed = { (wish: String?, old: String?) in wish == old ? old : wish ?? old }
        guard let name = changed(fileName, now?.name) ?? record.request.fileName else { return nil }
        let folder = changed(directory, now?.directory) ?? record.request.directory
        let new = Move.Place(directory: folder, name: name)
        return new == now ? nil : new
    }
}
