// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownState

/// Which new download of a browser may be a fresh link to an unfinished task.
@Suite struct FreshLinkTests {
    private static let page = "https://host/downloads?list=1"
    private static let file = OfferedFile(
        status: 200,
        version: Sample.otherRemote,
        url: "https://host/file.iso?signature=2",
        name: Sample.name
    )

    private static func request(_ change: (inout TaskRequest) -> Void = { _ in }) -> TaskRequest {
        var request = TaskRequest(url: "https://host/file.iso?signature=2", directory: "/d")
        request.referrer = page
        change(&request)
        return request
    }

    private static func record(_ change: (inout TaskRecord) -> Void = { _ in }) throws -> TaskRecord
    {
        var record = try Sample.record()
        record.request.referrer = page
        record.state = .paused
        record.file = Sample.file
        record.remote = Sample.remote
        change(&record)
        return record
    }

    @Test func `the same page, host, name and size fit`() throws {
        #expect(try Self.file.mayContinue(Self.record(), by: Self.request()))
    }

    @Test func `a name that the browser gave counts before the file's own`() throws {
        let record = try Self.record { record in
            record.request.fileName = "debian.iso"
            record.file = Sample.otherFile
        }
        let request = Self.request { $0.fileName = "debian.iso" }
        #expect(Self.file.mayContinue(record, by: request))
        #expect(!Self.file.mayContinue(record, by: Self.request()))
    }

    @Test(arguments: [
        "https://host/", "https://host", "https://other/downloads?list=1",
        "http://host/downloads?list=1", "https://host/downloads?list=2", nil,
    ])
    func `another page does not fit, nor one of which only the site is known`(
        page: String?
    ) throws {
        let request = Self.request { $0.referrer = page }
        #expect(try !Self.file.mayContinue(Self.record(), by: request))
        guard page.map({ $0.utf8.count < 15 }) ?? true else { return }
        let record = try Self.record { $0.request.referrer = page }
        #expect(!Self.file.mayContinue(record, by: request))
    }

    @Test(arguments: [
        "https://other/file.iso", "http://host/file.iso", "https://host:8443/file.iso",
        "https://a.host/file.iso",
    ])
    func `another host does not fit`(url: String) throws {
        let request = Self.request { $0.url = url }
        #expect(try !Self.file.mayContinue(Self.record(), by: request))
    }

    @Test func `another name or size does not fit, nor one that nobody knows`() throws {
        var file = Self.file
        file.name = "other.iso"
        #expect(try !file.mayContinue(Self.record(), by: Self.request()))
        file = Self.file
        file.version.total = Sample.half
        #expect(try !file.mayContinue(Self.record(), by: Self.request()))
        file.version.total = nil
        let unknown = try Self.record { $0.remote.total = nil }
        #expect(!file.mayContinue(unknown, by: Self.request()))
    }

    @Test func `private downloads do not fit`() throws {
        let request = Self.request { $0.isPrivate = true }
        #expect(try !Self.file.mayContinue(Self.record(), by: request))
        let record = try Self.record { $0.request.isPrivate = true }
        #expect(!Self.file.mayContinue(record, by: Self.request()))
    }

    @Test(arguments: [
        (TaskState.waiting(.queue), nil, true), (.downloading, nil, true), (.paused, nil, true),
        (.failed, Failure.status(403), true), (.failed, Failure.status(404), true),
        (.failed, Failure.status(401), true), (.failed, Failure.status(500), false),
        (.failed, Sample.mismatch, false), (.failed, Sample.full, false),
        (.completed, nil, false), (.cancelled, nil, false),
    ])
    func `what is unfinished or whose link has expired fits`(
        state: TaskState,
        failure: Failure?,
        fits: Bool
    ) throws {
        let record = try Self.record { record in
            record.state = state
            record.failure = failure
        }
        #expect(Self.file.mayContinue(record, by: Self.request()) == fits)
    }

    @Test func `a task that is going away does not fit`() throws {
        for intent in [Intent.remove, .discard, .publish(name: Sample.name)] {
            let record = try Self.record { $0.intent = intent }
            #expect(!Self.file.mayContinue(record, by: Self.request()))
        }
    }
}
