// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@testable import iDownService

/// The lines that people follow in the log.
@Suite struct CoordinatorLogTests {
    private func change(_ after: (inout TaskRecord) -> Void) -> Change {
        let before = TaskRecord.sample(7, url: "http://user:secret@h/secret?token=secret")
        var record = before
        after(&record)
        return Change(before: before, after: record, effects: [.persist, .announce])
    }

    @Test func `a line says which task, what and why, and nothing of its URL`() {
        let failed = change { record in
            record.state = .failed
            record.failure = Failure(.serverNotFound, "the server answered 404")
        }
        #expect(
            failed.move == "task 7: waiting → failed: Server.NotFound, the server answered 404"
        )
        // A message may name the host.
        let hidden = change { record in
            record.request.isPrivate = true
            record.state = .failed
            record.failure = Failure(.networkDNS, "secret.example was not found")
        }
        #expect(hidden.move == "task 7: waiting → failed: Network.DNS")
        let held = change { $0.state = .waiting(.space) }
        #expect(held.move == "task 7: waiting → waiting (space)")
        let paused = change { $0.state = .paused }
        #expect(paused.move == "task 7: waiting → paused")
        let completed = change { record in
            record.state = .completed
            record.integrity = .length
        }
        #expect(completed.move == "task 7: waiting → completed, 0 bytes, integrity length")
        #expect(
            ![failed, held, paused, completed].contains { $0.move?.contains("secret") ?? false }
        )
    }

    @Test func `a failure is told once, and what a task waited for with its end`() {
        var before = TaskRecord.sample(7)
        before.state = .downloading
        var waiting = before
        waiting.state = .waiting(.retry(at: .someTime))
        waiting.failure = Failure(.serverBusy, "the server answered HTTP 503")
        var due = waiting
        due.state = .waiting(.queue)
        #expect(
            Change(before: before, after: waiting, effects: [.persist]).move
                == "task 7: downloading → waiting (retry): Server.Busy, the server answered HTTP 503"
        )
        #expect(
            Change(before: waiting, after: due, effects: [.persist]).move
                == "task 7: waiting (retry) → waiting"
        )
    }

    @Test func `what stays in its state has no line`() {
        #expect(change { $0.priority = 3 }.move == nil)
    }

    @Test func `a restart tells of the bytes kept, and not again of a new state`() {
        let woken = change { $0.state = .paused }
        #expect(Restart.Restored(woken)?.line == nil)
        let measured = change { record in
            record.segments = SegmentMap([ByteRange(first: 0, length: 5)].compactMap(\.self))
        }
        #expect(Restart.Restored(measured)?.line == "task 7: 5 bytes kept")
    }
}
