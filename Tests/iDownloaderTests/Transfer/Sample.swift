// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting
import iDownloader

typealias Step = FaultServer.Step
typealias Gate = FaultServer.Gate

/// The file that most of these tests download: more than one write long, and no round number.
///
/// Its bytes are made once.
enum Sample {
    static let content = TestContent(TestContent(seed: 7, count: 700_001).bytes)
    /// Another version of it, of the same length.
    static let replaced = TestContent(TestContent(seed: 8, count: 700_001).bytes)
    /// How much of it an interrupted transfer has brought.
    static let cut: Int64 = 400_003

    static let file = ServedFile(content)

    /// A Last-Modified field and a Date that makes it a strong validator.
    static let lastModified = "Sat, 21 Nov 2026 08:00:00 GMT"
    static let date = ("Date", "Sat, 21 Nov 2026 09:00:00 GMT")

    /// The fields of a correct partial answer from the cut on.
    static let restFields = [
        ("Content-Length", "\(content.count - cut)"),
        ("Content-Range", "bytes \(cut)-\(content.count - 1)/\(content.count)"),
        ("ETag", "\"v1\""),
    ]
}

extension ServedFile {
    /// The file, its connection closed at the sample's cut.
    func cutOff() -> [Step] { cutOff(at: Sample.cut) }
}

/// A whole file in one answer, with these fields beside its length.
func whole(_ content: TestContent, _ fields: [(String, String)] = []) -> [Step] {
    [
        .head("200 OK", [("Content-Length", "\(content.count)")] + fields),
        .sendPattern(content, 0..<content.count),
    ]
}

/// Interrupts a download of `file` at ``Sample/cut``; to later requests the server says `answer`.
func interrupting(
    _ file: ServedFile = Sample.file,
    then answer: @escaping @Sendable (RecordedRequest) -> [Step] = { Sample.file.answer(to: $0) },
    _ body: (Site, RecordingJournal, FaultServer) async throws -> Void
) async throws {
    try await withServer({ $0.number == 1 ? file.cutOff() : answer($0) }) { server in
        try await withSite { site in
            let journal = try site.task(server.url("/file.bin"))
            try await site.run(journal)
            #expect(journal.record.failure?.code == .serverTruncated)
            #expect(journal.record.segments.prefixLength == Sample.cut)
            try #require(server.requests.count == 1)
            try await body(site, journal, server)
        }
    }
}

/// Interrupts a download of `file` at ``Sample/cut``, then runs one more attempt.
///
/// `answer` is what the server says to all later requests; `hook` steps in before the events of
/// the second attempt; `check` looks at the outcome and gets the requests of that attempt.
func resuming(
    _ file: ServedFile = Sample.file,
    then answer: @escaping @Sendable (RecordedRequest) -> [Step],
    hook: @escaping RecordingJournal.Hook = { _, _ in true },
    check: (Site, RecordingJournal, [RecordedRequest]) async throws -> Void
) async throws {
    try await interrupting(file, then: answer) { site, journal, server in
        journal.before(hook)
        try await site.run(journal)
        try await check(site, journal, Array(server.requests.dropFirst()))
    }
}

/// The file is there under its name, whole and alone.
func expectComplete(
    _ content: TestContent,
    as name: String = "file.bin",
    _ site: Site,
    _ journal: RecordingJournal,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let record = journal.record
    #expect(record.state == .completed, "\(record.state)", sourceLocation: sourceLocation)
    #expect(record.failure == nil, sourceLocation: sourceLocation)
    #expect(record.path == site.path(name), sourceLocation: sourceLocation)
    #expect(record.segments.byteCount == content.count, sourceLocation: sourceLocation)
    #expect(site.holds(content, as: name), sourceLocation: sourceLocation)
    #expect(site.files == [name], sourceLocation: sourceLocation)
}

/// It failed for this reason, and nothing has a final name.
func expectFailure(
    _ code: FailureCode,
    isTransient: Bool,
    _ site: Site,
    _ journal: RecordingJournal,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let record = journal.record
    #expect(record.failure?.code == code, "\(record)", sourceLocation: sourceLocation)
    #expect(record.failure?.isTransient == isTransient, sourceLocation: sourceLocation)
    #expect(
        record.state.kind == (isTransient ? .waiting : .failed),
        sourceLocation: sourceLocation
    )
    #expect(site.files.allSatisfy { $0.hasSuffix(".part") }, sourceLocation: sourceLocation)
}

/// Every byte that the record claims is in the task's file, and is one of `content`.
func expectTrueClaims(
    _ content: TestContent,
    _ site: Site,
    _ journal: RecordingJournal,
    _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let record = journal.record
    guard let file = record.file, !record.segments.isEmpty else { return }
    // Between the rename and the record's word of it the file has its final name already.
    let name = [file.partName, file.name].first { site.isRecorded($0, as: file) }
    let bytes = name.map { site.bytes(of: $0) } ?? []
    for range in record.segments.ranges {
        let isThere = range.end <= bytes.count
        #expect(isThere, comment, sourceLocation: sourceLocation)
        guard isThere else { continue }
        let claimed = Array(bytes[Int(range.first)..<Int(range.end)])
        let isTrue = claimed == content.bytes(in: range.first..<range.end)
        #expect(isTrue, comment, sourceLocation: sourceLocation)
    }
}
