// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting
import iDownloader

/// What a transfer does when its journal wants no more of it, or cannot be written.
@Suite(.timeLimit(.minutes(5))) struct TransferJournalTests {
    /// Cancels the task in the very moment before this event.
    private func cancelling(
        at kind: EventKind,
        _ check: (Site, RecordingJournal, FaultServer) async throws -> Void
    ) async throws {
        try await withServer({ $0.number == 1 ? Sample.file.cutOff() : [.close] }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                journal.before { event, journal in
                    if EventKind(event) == kind { try journal.apply(.cancel) }
                    return true
                }
                try await site.run(journal)
                #expect(journal.record.state == .cancelled)
                #expect(journal.refused.map(EventKind.init).contains(kind))
                // What the service does with the intent, if there is one.
                try await site.engine.deletePartial(of: journal.record)
                site.engine.names.release(journal.record.id)
                try await check(site, journal, server)
            }
        }
    }

    @Test(arguments: [EventKind.opened, .checkpointed, .failed])
    func `a task that is cancelled meanwhile leaves no file behind`(kind: EventKind)
        async throws
    {
        try await cancelling(at: kind) { site, journal, _ in
            #expect(site.files.isEmpty)
            #expect(!journal.kinds.contains(.completed))
        }
    }

    @Test func `one that is cancelled right before its publication neither`() async throws {
        try await withServer({ Sample.file.answer(to: $0) }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                journal.before { event, journal in
                    if case .publishing = event { try journal.apply(.cancel) }
                    return true
                }
                try await site.run(journal)
                #expect(journal.record.state == .cancelled)
                #expect(journal.record.intent == .discard)
                try await site.engine.deletePartial(of: journal.record)
                #expect(site.files.isEmpty)
            }
        }
    }

    @Test func `its name is free for the next task`() async throws {
        try await cancelling(at: .opened) { site, _, server in
            let other = try FaultServer.serving(Sample.file)
            defer { other.stop() }
            let journal = try site.task(other.url("/file.bin"), id: 2)
            try await site.run(journal)
            expectComplete(Sample.content, site, journal)
        }
    }

    /// Nothing holds this transfer, it makes its file, and the file is no metalink.
    @Test(arguments: EventKind.allCases.filter { ![.answered, .held, .listed].contains($0) })
    func `what could not be written is not claimed, and can be done again`(kind: EventKind)
        async throws
    {
        // What is small comes in one go.
        let content = kind == .arrived ? TestContent(seed: 7, count: 1000) : Sample.content
        let file = ServedFile(content)
        try await withServer({ request in
            let isCut = request.number == 1 && (kind == .checkpointed || kind == .failed)
            return isCut ? file.cutOff() : file.answer(to: request)
        }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                let throwing = Counter()
                journal.before { event, _ in
                    guard EventKind(event) == kind else { return true }
                    throwing.add()
                    throw RecordingJournal.NotWritten()
                }
                try await site.run(journal)
                #expect(throwing.count > 0)
                #expect(!journal.kinds.contains(kind))
                #expect(journal.record.state != .completed)
                #expect(journal.endings.count == 1)
                expectTrueClaims(content, site, journal)
                if let failure = journal.record.failure, kind != .checkpointed {
                    #expect(failure.code == .fileFailed)
                    #expect(failure.isTransient)
                }

                journal.stepBack()
                try await site.run(journal)
                expectComplete(content, site, journal)
            }
        }
    }

    @Test func `a checkpoint by time that cannot be written ends the attempt`() async throws {
        let hold = ServedFile.Hold(afterBytes: Sample.cut)
        let held = Sample.file.with { $0.hold = hold }
        try await withServer({ request in
            request.number == 1 ? held.answer(to: request) : Sample.file.answer(to: request)
        }) { server in
            try await withSite(checkpointInterval: .milliseconds(1)) { site in
                let journal = try site.task(server.url("/file.bin"))
                journal.before { event, _ in
                    if case .checkpointed = event { throw RecordingJournal.NotWritten() }
                    return true
                }
                try await site.run(journal)
                expectFailure(.fileFailed, isTransient: true, site, journal)
                #expect(journal.record.segments.isEmpty)
                journal.stepBack()
                try await site.run(journal)
                expectComplete(Sample.content, site, journal)
            }
        }
    }

    @Test func `a task that was restarted hears only what its former transfer has kept`()
        async throws
    {
        let hold = ServedFile.Hold(afterBytes: Sample.cut)
        let held = Sample.file.with { $0.hold = hold }
        try await withServer({ held.answer(to: $0) }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                let transfer = try site.start(journal)
                await hold.reached.waitUntilOpen()
                await journal.waitUntil { $0.file != nil }
                // Displaced and started again, before the former transfer has noticed.
                journal.apply(.displaced)
                journal.apply(.slotGranted(order: 2))
                let before = journal.record
                hold.until.open()
                await transfer.ended()
                var record = journal.record
                #expect(record.segments.byteCount >= Sample.cut)
                (record.segments, record.stretchStart) = (before.segments, before.stretchStart)
                #expect(record == before)
                #expect(site.files == ["file.bin.part"])
            }
        }
    }
}
