// SPDX-License-Identifier: Apache-2.0

/// The way of a task's file to another place, which is recorded before each step of it is made.
package enum Move: Hashable, Sendable {
    /// The file is to stand at this place.
    ///
    /// `made` is what is about to appear there: the file itself under its new name, or a copy of it
    /// on another file system. It is recorded first, so that a crash leaves nothing that nobody knows.
    case to(Place, made: LocalFile?)
    /// The file is where it should be; what was copied still stands in this folder, to be deleted.
    case from(directory: String, LocalFile)

    /// A folder, absolute and with its links resolved, and the final name that is wanted there.
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
    /// This is about to appear at the new place.
    case making(LocalFile)
    /// The file stands at the new place under this name, which lasts; a copy of it may be left.
    case arrived(LocalFile, leavesCopy: Bool)
    /// The partial file is not there any more: nothing is left to be moved.
    case lost
    /// The file stays where it is; nil where somebody wanted that.
    case failed(Failure?)
}

extension TaskRecord {
    /// Where the file is on its way to; nil where it stays.
    package var destination: Move.Place? {
        guard case .to(let place, _) = move else { return nil }
        return place
    }

    /// Where the file stands, or is on its way to; nil while there is none.
    fileprivate var place: Move.Place? {
        destination ?? file.map { Move.Place(directory: request.directory, name: $0.name) }
    }

    /// Whether the file is on its way to another place: no transfer starts until it is there.
    package var isMoving: Bool { destination != nil }

    /// Whether a copy of its file still stands where a move has left it.
    var leavesCopy: Bool {
        guard case .from = move else { return false }
        return true
    }

    /// Takes note of a step of the move to this place; what comes too late is dropped.
    mutating func apply(_ event: MoveEvent, to place: Move.Place) -> [Effect] {
        guard destination == place, !isDeleting, let file else { return [] }
        switch event {
        case .making(let made):
            move = .to(place, made: made)
            return [.persist]
        case .arrived(let moved, let leavesCopy):
            move = leavesCopy ? .from(directory: request.directory, file) : nil
            if place.name != file.name { request.fileName = place.name }
            request.directory = place.directory
            self.file = moved
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
        // It has kept its slot while its file moved: its next transfer begins.
        if state == .downloading { return [.persist, .announce, .startTransfer(attempt)] }
        return [.persist, .announce, .fillSlots]
    }

    /// The copy that a move has left is gone.
    mutating func forgetLeftover() -> [Effect] {
        guard case .from = move else { return [] }
        move = nil
        return [.persist]
    }
}

extension TaskEdit {
    /// Where a task's file would stand after it; nil where that is no other place.
    ///
    /// - Throws: what has to come to its end first: `deleting`, `publishing` or `moving`.
    func place(of record: TaskRecord) throws(Refusal) -> Move.Place? {
        guard let now = record.place else { return nil }
        let new = Move.Place(directory: directory ?? now.directory, name: fileName ?? now.name)
        guard new != now else { return nil }
        if record.isDeleting { throw .deleting }
        if case .publish = record.intent { throw .publishing }
        guard record.move == nil else { throw .moving }
        return new
    }

    /// Where an unfinished task's file is to stand after it.
    ///
    /// Nil where it changes nothing about that, and while nobody has asked for a name. Of a finished
    /// file it says nothing: its move tells whether the name is free.
    package func wantedPlace(of record: TaskRecord) -> Move.Place? {
        guard directory != nil || fileName != nil, record.state != .completed else { return nil }
        let now = record.place
        guard let name = fileName ?? now?.name ?? record.request.fileName else { return nil }
        let new = Move.Place(
            directory: directory ?? now?.directory ?? record.request.directory,
            name: name
        )
        return new == now ? nil : new
    }
}
