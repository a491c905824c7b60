// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownState

@Suite struct TaskRecordTests {
    @Test func `a task that was just added waits and knows nothing`() throws {
        let record = try Sample.record()
        #expect(record.state == .waiting(.queue))
        #expect(record.attempt == .none)
        #expect(record.tries == 0)
        #expect(record.file == nil)
        #expect(record.remote == RemoteVersion())
        #expect(record.segments.isEmpty)
        #expect(record.intent == nil)
        #expect(record.failure == nil)
        #expect(record.integrity == nil)
        #expect(record.finishedAt == nil)
        #expect(record.displayName == "file.iso")
        #expect(record.path == nil)
    }

    @Test func `the name is the file's, else the one asked for`() throws {
        var record = try Sample.record()
        record.request.fileName = "wanted.iso"
        #expect(record.displayName == "wanted.iso")
        record.file = Sample.file
        #expect(record.displayName == "file.iso")
        #expect(Sample.file.partName == "file.iso.part")
    }

    @Test(arguments: Situation.allCases)
    func `only a completed task has a path`(situation: Situation) throws {
        let record = try situation.record()
        let path = situation == .completed ? "/home/u/Downloads/file.iso" : nil
        #expect(record.path == path)
    }

    @Test func `the root folder has one slash`() throws {
        var record = try Situation.completed.record()
        record.request.directory = "/"
        #expect(record.path == "/file.iso")
    }
}
