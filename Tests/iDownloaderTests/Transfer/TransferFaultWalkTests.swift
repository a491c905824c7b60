// SPDX-License-Identifier: Apache-2.0

import Curl
import Glibc
import Testing
import iDownState
import iDownTesting
import iDownloader

/// A download that is interrupted and resumed, with each call into the system failing once.
@Suite(.timeLimit(.minutes(5))) struct TransferFaultWalkTests {
    private static let content = Sample.content

    /// A host whose whole answers break off and whose partial ones are right.
    private static func answer(_ request: RecordedRequest) -> [Step] {
        request["Range"] == nil ? Sample.file.cutOff() : Sample.file.answer(to: request)
    }

    /// Somebody else's files beside ours, and in its way.
    private static let foreign = ["file.bin", "file (1).bin.part", "other"]
    private static let ours = "file (2).bin"

    /// Runs `body` in a folder with somebody else's files, which it must leave alone.
    private func withForeignFiles(_ body: (String) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            for name in Self.foreign { putFile(folder + "/" + name) }
            try await body(folder)
            for name in Self.foreign {
                #expect(contents(of: folder + "/" + name) == "somebody else's")
            }
        }
    }

    /// Two attempts under the plan, then as many good ones as it takes.
    ///
    /// - Returns: the names of our own that are left in the folder.
    @discardableResult
    private func walk(_ plan: FaultPlan, _ comment: Comment) async throws -> [String] {
        var left: [String] = []
        try await withServer({ Self.answer($0) }) { server in
            try await withForeignFiles { folder in
                let journal = try await withSite(in: folder, faults: plan) { site in
                    let journal = try site.task(server.url("/file.bin"))
                    for _ in 0..<2 where journal.record.state != .completed {
                        try await site.run(journal)
                        check(site, journal, comment)
                    }
                    return journal
                }
                try await withSite(in: folder) { site in
                    // What the service does when it starts.
                    _ = await site.engine.measurePartial(of: journal.record)
                    for _ in 0..<4 where journal.record.state != .completed {
                        try await site.run(journal)
                        check(site, journal, comment)
                    }
                    #expect(journal.record.state == .completed, comment)
                    left = site.files.filter { !Self.foreign.contains($0) }
                    let name = journal.record.file?.name ?? ""
                    #expect(site.holds(Self.content, as: name), comment)
                }
            }
        }
        return left
    }

    /// Either it is complete and right, or it failed with a reason; the record tells the truth.
    private func check(_ site: Site, _ journal: RecordingJournal, _ comment: Comment) {
        expectTrueClaims(Self.content, site, journal, comment)
        let record = journal.record
        if record.state == .completed {
            #expect(
                record.path.map { site.holds(Self.content, as: $0.lastElement) } == true,
                comment
            )
            #expect(record.integrity == .validators, comment)
        } else {
            #expect(record.failure != nil, comment)
            // A disk that is full makes the task wait for room.
            let mayWait = record.state.isRetry || record.state == .waiting(.space)
            #expect(record.state == .failed || mayWait, comment)
        }
        for name in site.files where name.hasPrefix("file") && !name.hasSuffix(".part") {
            guard !Self.foreign.contains(name) else { continue }
            #expect(site.holds(Self.content, as: name), "\(comment): \(name) is not whole")
        }
    }

    private func countCalls() async throws -> Int {
        let plan = FaultPlan()
        let left = try await walk(plan, "no fault")
        #expect(left == [Self.ours])
        #expect(plan.calls > 20)
        return plan.calls
    }

    @Test(
        arguments: [false, true],
        [EIO, ENOSPC, EINTR, EINVAL, ENOENT]
    )
    func `whatever call fails, no byte is wrong and the next attempt completes`(
        isMade: Bool,
        errno: Int32
    ) async throws {
        for call in 1...(try await countCalls()) {
            let plan = FaultPlan(failing: call, with: errno, isMade: isMade)
            try await walk(plan, "call \(call) with \(errno), made: \(isMade)")
        }
    }

    @Test func `whatever call fails, one file is left in the end`() async throws {
        for call in 1...(try await countCalls()) {
            let left = try await walk(FaultPlan(failing: call), "call \(call)")
            #expect(left == [Self.ours], "call \(call)")
        }
    }

    @Test func `a disk that fails for good is reported, and what it held stays true`()
        async throws
    {
        for call in 1...(try await countCalls()) {
            try await walk(FaultPlan(failing: call, times: 10_000), "from call \(call) on")
        }
    }

    @Test(arguments: [1, 1000, 65_537])
    func `a disk that takes small bites gets all of them`(longest: Int) async throws {
        guard longest > 1 else {
            // Byte by byte a file of its size is enough.
            let small = TestContent(seed: 1, count: 3000)
            try await withServer({ _ in whole(small) }) { server in
                try await withSite(faults: FaultPlan(longestWrite: 1)) { site in
                    let journal = try await site.download(server.url("/file.bin"))
                    expectComplete(small, site, journal)
                }
            }
            return
        }
        let left = try await walk(FaultPlan(longestWrite: longest), "\(longest) at once")
        #expect(left == [Self.ours])
    }

    @Test func `whatever call into libcurl fails, no byte is wrong and the next attempt completes`()
        async throws
    {
        let count = CallFaults()
        try await walk(count, "no fault")
        // The rounds of its loop are calls as well, and their number differs a little.
        for call in 1...(count.calls + 20) {
            try await walk(CallFaults(failing: [call]), "call \(call)")
        }
    }

    private func walk(_ plan: CallFaults, _ comment: Comment) async throws {
        try await withServer({ Self.answer($0) }) { server in
            try await withForeignFiles { folder in
                var journal: RecordingJournal?
                do {
                    try await withSite(in: folder, curlFaults: plan) { site in
                        let begun = try site.task(server.url("/file.bin"))
                        journal = begun
                        for _ in 0..<2 where begun.record.state != .completed {
                            try await site.run(begun)
                            check(site, begun, comment)
                            // Nothing that fails here is the server's fault, or lasts.
                            let failure = begun.record.failure
                            #expect(failure?.isTransient != false, "\(comment): \(failure)")
                            #expect(failure?.code != .networkTLS, "\(comment): \(failure)")
                        }
                    }
                } catch let error as CurlFailure {
                    // The pool itself could not be made.
                    #expect(journal == nil, "\(comment): \(error)")
                }
                try await withSite(in: folder) { site in
                    let journal = try journal ?? site.task(server.url("/file.bin"))
                    _ = await site.engine.measurePartial(of: journal.record)
                    for _ in 0..<4 where journal.record.state != .completed {
                        try await site.run(journal)
                        check(site, journal, comment)
                    }
                    #expect(journal.record.state == .completed, comment)
                    #expect(
                        site.files.filter { !Self.foreign.contains($0) } == [Self.ours],
                        comment
                    )
                }
            }
        }
    }
}

extension TaskState {
    fileprivate var isRetry: Bool {
        if case .waiting(.retry) = self { return true }
        return false
    }
}

extension String {
    /// The last element of a path.
    fileprivate var lastElement: String { split(separator: "/").last.map(String.init) ?? "" }
}
