// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

/// Changed options, each in every situation.
@Suite struct TaskRecordEditTests {
    /// An edit that changes this option of the sample, and no other.
    static func edit(_ option: TaskEdit.Option) -> TaskEdit {
        var edit = TaskEdit()
        switch option {
        case .url: edit.url = "https://host/file.iso?token=2"
        case .directory: edit.directory = "/home/u/Other"
        case .fileName: edit.fileName = "other.iso"
        case .checksum:
            edit.checksum = .some(Checksum(.md5, Array(repeating: 1, count: 16)))
        case .expectedSize: edit.expectedSize = .some(Sample.total)
        case .mirrors: edit.mirrors = ["https://mirror/file.iso"]
        case .headers: edit.headers = [HeaderField(name: "X-Key", value: "1")]
        case .referrer: edit.referrer = .some("https://page/")
        case .userAgent: edit.userAgent = .some("Agent/1")
        case .cookies: edit.cookies = .some("key=1")
        case .connections: edit.connections = .some(2)
        case .speedLimit: edit.speedLimit = 1000
        case .priority: edit.priority = 5
        case .whenDone: edit.whenDone = .some(.open)
        case .onExisting: edit.onExisting = .fail
        case .retryFor: edit.retryFor = 60
        }
        return edit
    }

    @Test func `a cancelled task keeps no cookies, and a failed one those for its next attempt`()
        throws
    {
        var cancelled = try Situation.cancelled.record()
        _ = try cancelled.edit(Self.edit(.cookies))
        #expect(cancelled.request.cookies == nil)
        var failed = try Situation.failed.record()
        _ = try failed.edit(Self.edit(.cookies))
        #expect(failed.request.cookies == "key=1")
    }

    private static let completedTakes: [TaskEdit.Option] = [
        .priority, .directory, .fileName, .checksum, .whenDone,
    ]
    /// What a running transfer takes as it runs, or need not know.
    private static let whileRunning: [TaskEdit.Option] = [
        .connections, .speedLimit, .priority, .whenDone, .retryFor,
    ]

    /// Why the situation keeps the option as it is; nil where it takes another.
    static func refusal(of option: TaskEdit.Option, in situation: Situation) throws -> Refusal? {
        let record = try situation.record()
        if situation == .removing { return .gone }
        if situation == .publishing {
            return [.priority, .whenDone].contains(option) ? nil : .publishing
        }
        // Nobody would compare a file that has its name already.
        if case .publish = record.intent, [.checksum, .expectedSize].contains(option) {
            return .publishing
        }
        switch record.state {
        case .completed where !completedTakes.contains(option):
            return .keepsOption(option, .completed)
        case .cancelled where option == .url:
            return .keepsOption(.url, .cancelled)
        case .waiting, .downloading, .paused, .failed, .completed, .cancelled:
            guard option == .directory || option == .fileName, record.file != nil else {
                return nil
            }
            return switch record.intent {
            case .publish: .publishing
            case .discard, .remove: .deleting
            case nil: nil
            }
        }
    }

    @Test(arguments: Situation.allCases, TaskEdit.Option.allCases)
    func `each option is taken or refused as the contract says`(
        situation: Situation,
        option: TaskEdit.Option
    ) throws {
        let before = try situation.record()
        var after = before
        #expect(Self.edit(option).options == [option])
        if let refusal = try Self.refusal(of: option, in: situation) {
            #expect(throws: refusal) { try after.edit(Self.edit(option)) }
            #expect(after == before)
            return
        }
        let effects = try after.edit(Self.edit(option))
        if option == .cookies, before.state == .cancelled {
            // The task has ended, and with it every secret.
            #expect(effects.isEmpty && after == before)
            return
        }
        #expect(after != before)
        #expect(effects.first == .persist && effects.contains(.announce))
        let stops = before.state == .downloading && !Self.whileRunning.contains(option)
        #expect(effects.contains(.stopTransfer(before.attempt)) == stops)
        #expect(effects.contains(.limitSpeed(1000)) == (option == .speedLimit))
        #expect(effects.contains(.limitConnections(2)) == (option == .connections))
        #expect(
            (after.state == .waiting(.queue)) == (before.state == .waiting(.queue))
                || option == .url
        )
        if before.failure?.code.spoilsContent != true || option != .url {
            #expect(after.segments == before.segments)
        }
        let moves = before.file != nil && (option == .directory || option == .fileName)
        #expect(effects.contains(.moveFile) == moves)
        #expect(after.isMoving == moves && after.file == before.file)
        if moves { #expect(after.request.directory == before.request.directory) }
        // It keeps its slot, and the next transfer begins there.
        if stops {
            let next = before.attempt.next
            #expect(after.state == .downloading && after.attempt == next)
            #expect(effects.contains(.startTransfer(next)) == !moves)
            #expect(!effects.contains(.fillSlots))
        }
        // Once more it is nothing new.
        #expect(try after.edit(Self.edit(option)).isEmpty)
    }

    @Test func `a running task whose file moves starts its next transfer at the end of the move`()
        throws
    {
        var record = try Situation.downloading.record()
        var effects = try record.edit(Self.edit(.directory))
        let next = Sample.attempt.next
        #expect(effects == [.persist, .stopTransfer(Sample.attempt), .announce, .moveFile])
        // What the stopped transfer has kept counts, and nothing else that it says.
        let old = { (event: TransferEvent) in Event.transfer(event, of: Sample.attempt) }
        #expect(record.apply(old(.failed(Sample.missing)), at: Sample.now, jitter: 0).isEmpty)
        let kept = Sample.first(Sample.total)
        #expect(record.apply(old(.checkpointed(kept)), at: Sample.now, jitter: 0).first == .persist)
        #expect(record.segments == kept)
        // No transfer runs that another option would stop.
        #expect(try record.edit(Self.edit(.headers)) == [.persist, .announce])
        #expect(try record.setURL("https://host/2", isSameOrigin: true) == [.persist, .announce])
        let place = try #require(record.destination)
        effects = record.apply(.move(.failed(nil), to: place), at: Sample.now, jitter: 0)
        #expect(effects == [.persist, .announce, .startTransfer(next)])
        #expect(record.state == .downloading && record.attempt == next)
    }

    @Test func `a finished file counts as checked only by the digest that it was compared with`()
        throws
    {
        let compared = Checksum(.md5, Array(repeating: 0, count: 16))
        var cleared = TaskEdit()
        cleared.checksum = .some(nil)
        for edit in [Self.edit(.checksum), cleared] {
            var record = try Situation.completed.record()
            record.request.checksum = compared
            record.integrity = .checksum
            _ = try record.edit(edit)
            #expect(record.integrity == Integrity.none)
        }
        // The server's digest was compared, and the client now gives the same.
        var record = try Situation.completed.record()
        record.remote.checksum = Self.edit(.checksum).checksum ?? nil
        record.integrity = .checksum
        _ = try record.edit(Self.edit(.checksum))
        #expect(record.integrity == .checksum)
    }

    @Test func `one option that is refused refuses all`() throws {
        var record = try Situation.completed.record()
        var edit = Self.edit(.priority)
        edit.retryFor = 60
        #expect(throws: Refusal.keepsOption(.retryFor, .completed)) { try record.edit(edit) }
        #expect(try record == Situation.completed.record())
    }

    @Test func `what is taken away is gone, and what is not named stays`() throws {
        var record = try Situation.paused.record()
        let all: [TaskEdit.Option] = [
            .checksum, .expectedSize, .referrer, .userAgent, .connections, .whenDone,
        ]
        for option in all { _ = try record.edit(Self.edit(option)) }
        var edit = TaskEdit()
        edit.checksum = .some(nil)
        edit.referrer = .some(nil)
        edit.connections = .some(nil)
        #expect(try record.edit(edit) == [.persist, .limitConnections(nil), .announce])
        #expect(record.request.checksum == nil && record.request.referrer == nil)
        #expect(record.request.connections == nil)
        #expect(record.request.expectedSize == Sample.total && record.request.whenDone == .open)
        #expect(record.request.userAgent == "Agent/1")
    }

    @Test func `with a link to another origin, the new headers go there and the old ones do not`()
        throws
    {
        var record = try Situation.pausedWithBytes.record()
        record.request.referrer = "https://page/SECRET"
        record.request.headers = [HeaderField(name: "X-Old", value: "SECRET")]
        var edit = Self.edit(.headers)
        edit.url = "https://other/file.iso"
        _ = try record.edit(edit, isSameOrigin: false)
        #expect(record.request.headers == [HeaderField(name: "X-Key", value: "1")])
        #expect(record.request.referrer == nil)
        #expect(record.remote.needsProof)
    }

    @Test func `a mirror that is known keeps its login`() throws {
        var record = try Situation.paused.record()
        record.request.mirrors = ["https://u:SECRET@m.example/a", "https://n.example/a"]
        var edit = TaskEdit()
        edit.mirrors = ["https://n.example/a", "https://m.example/a", "https://o.example/a"]
        _ = try record.edit(edit)
        #expect(
            record.request.mirrors == [
                "https://n.example/a", "https://u:SECRET@m.example/a", "https://o.example/a",
            ]
        )
    }
}
