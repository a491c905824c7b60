// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

/// The way of a file to another place, as the record knows it.
@Suite struct MoveTests {
    @Test func `a file that moves keeps its name's bytes where the new name is equal`() throws {
        var record = try Situation.pausedWithBytes.record()
        record.file = LocalFile(name: "Caf\u{e9}.bin", fileSystem: 9, mark: 8)
        var edit = TaskEdit()
        edit.directory = "/other"
        edit.fileName = "Cafe\u{301}.bin"
        _ = try record.edit(edit)
        guard case .to(let place, made: nil) = record.move else {
            Issue.record("the file does not move")
            return
        }
        #expect(place.name.utf8.elementsEqual("Caf\u{e9}.bin".utf8))
    }

    private static let place = Move.Place(directory: "/other", name: "new.iso")
    private static let moved = LocalFile(name: "new.iso", fileSystem: 9, mark: 8)

    private func record(_ situation: Situation = .pausedWithBytes) throws -> TaskRecord {
        var record = try situation.record()
        var edit = TaskEdit()
        edit.directory = Self.place.directory
        edit.fileName = Self.place.name
        _ = try record.edit(edit)
        #expect(record.move == .to(Self.place, made: nil))
        return record
    }

    private func apply(_ event: MoveEvent, to record: inout TaskRecord) -> [Effect] {
        record.apply(.move(event, to: Self.place), at: Sample.now, jitter: 0)
    }

    @Test(arguments: [
        Situation.pausedWithBytes, .queuedWithBytes, .failed, .downloading, .completed,
    ])
    func `a file that has arrived is the task's, with all its bytes`(situation: Situation) throws {
        var record = try record(situation)
        let before = record
        #expect(apply(.making(Self.moved), to: &record) == [.persist])
        #expect(record.move == .to(Self.place, made: Self.moved))
        // The record names the original until that is deleted.
        #expect(apply(.copied(Self.moved, record.segments), to: &record) == [.persist])
        #expect(record.move == .copied(Self.place, Self.moved) && record.isMoving)
        #expect(record.file == Sample.file)
        // A running task has kept its slot, and its next transfer begins there.
        let isRunning = before.state == .downloading
        #expect(
            apply(.arrived(Self.moved, leavesCopy: true), to: &record)
                == [.persist, .announce, isRunning ? .startTransfer(before.attempt) : .fillSlots]
        )
        #expect(record.file == Self.moved && record.request.directory == "/other")
        #expect(record.request.fileName == "new.iso")
        #expect(record.segments == before.segments && record.state == before.state)
        #expect(record.move == .from(directory: before.request.directory, Sample.file))
        #expect(record.apply(.leftoverDeleted, at: Sample.now, jitter: 0) == [.persist])
        #expect(record.move == nil)
    }

    @Test func `a copy that lacks bytes does not take the file's place`() throws {
        var record = try record()
        _ = apply(.making(Self.moved), to: &record)
        // The last checkpoint of the stopped transfer came after the copy was made.
        #expect(apply(.copied(Self.moved, Sample.first(1)), to: &record) == [.persist])
        #expect(record.move == .to(Self.place, made: Self.moved))
    }

    @Test func `nothing starts while the file is on its way, and then it does`() throws {
        var record = try record(.queuedWithBytes)
        #expect(record.apply(.slotGranted(order: 1), at: Sample.now, jitter: 0).isEmpty)
        // Nor is a file missed that may be in its new place.
        #expect(record.apply(.partialFound(size: nil), at: Sample.now, jitter: 0).isEmpty)
        _ = apply(.arrived(Self.moved, leavesCopy: false), to: &record)
        #expect(record.apply(.slotGranted(order: 1), at: Sample.now, jitter: 0).isEmpty == false)
    }

    @Test func `a failure leaves the old place and the state, and says why`() throws {
        var record = try record()
        let old = try Situation.pausedWithBytes.record()
        let full = Failure(.fileNoSpace, "full")
        _ = apply(.copied(Self.moved, record.segments), to: &record)
        #expect(apply(.failed(full), to: &record) == [.persist, .announce, .fillSlots])
        #expect(record.failure == full)
        record.failure = nil
        #expect(record == old)
    }

    @Test(arguments: [Situation.pausedWithBytes, .queuedWithBytes, .completed, .failed])
    func `a file that has arrived tells no more why it could not be moved before`(
        situation: Situation
    ) throws {
        var record = try record(situation)
        _ = apply(.failed(Failure(.fileNoSpace, "full")), to: &record)
        var edit = TaskEdit()
        (edit.directory, edit.fileName) = (Self.place.directory, Self.place.name)
        _ = try record.edit(edit)
        _ = apply(.arrived(Self.moved, leavesCopy: false), to: &record)
        #expect((record.failure == nil) == (record.state != .failed))
        // What a server or a digest has told is as true there.
        let mismatch = Failure(.checksumMismatch, "another file")
        (record.failure, edit.directory) = (mismatch, "/third")
        _ = try record.edit(edit)
        let third = Move.Place(directory: "/third", name: Self.place.name)
        let arrived = MoveEvent.arrived(Self.moved, leavesCopy: false)
        _ = record.apply(.move(arrived, to: third), at: Sample.now, jitter: 0)
        #expect(record.request.directory == "/third" && record.failure == mismatch)
    }

    @Test func `a partial file that is gone is not missed`() throws {
        var record = try record()
        _ = apply(.lost, to: &record)
        #expect(record.file == nil && record.segments.isEmpty && record.move == nil)
        #expect(record.request.directory == "/other" && record.request.fileName == "new.iso")
    }

    @Test(arguments: [Command.cancel, .remove])
    func `what comes after a verb has the file deleted is dropped`(command: Command) throws {
        var record = try record()
        _ = apply(.making(Self.moved), to: &record)
        #expect(try record.apply(command).contains(.deletePartial))
        let deleting = record
        #expect(apply(.arrived(Self.moved, leavesCopy: true), to: &record).isEmpty)
        #expect(apply(.failed(nil), to: &record).isEmpty)
        #expect(record == deleting && record.move == .to(Self.place, made: Self.moved))
    }

    @Test func `a finished task goes only with the copy that its move has left`() throws {
        var record = try record(.downloading)
        _ = apply(.making(Self.moved), to: &record)
        _ = apply(.arrived(Self.moved, leavesCopy: true), to: &record)
        record.state = .completed
        #expect(try record.apply(.remove) == [.persist, .announceRemoved, .deletePartial])
        #expect(record.intent == .remove)
        #expect(record.apply(.partialDeleted, at: Sample.now, jitter: 0) == [.erase])
    }

    @Test func `a step to a place that is not wanted any more is dropped`() throws {
        var record = try record()
        _ = apply(.failed(nil), to: &record)
        let now = record
        #expect(apply(.arrived(Self.moved, leavesCopy: false), to: &record).isEmpty)
        #expect(record == now)
        var again = try self.record()
        var edit = TaskEdit()
        edit.directory = "/third"
        #expect(throws: Refusal.moving) { try again.edit(edit) }
    }
}
