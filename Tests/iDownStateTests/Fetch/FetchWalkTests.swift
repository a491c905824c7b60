// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting

/// Random sequences of answers, breaks, crashes and changed files around the decisions of an
/// attempt, without a server or a disk.
@Suite(.timeLimit(.minutes(5))) struct FetchWalkTests {
    @Test func `random sequences mix nothing, claim nothing that is not safe, and end`() {
        for seed in 1...100_000 as ClosedRange<UInt64> {
            var world = FetchWorld(seed: seed)
            guard let fault = world.run() else { continue }
            var again = FetchWorld(seed: seed, isTold: true)
            _ = again.run()
            Issue.record("seed \(seed): \(fault)\n\(again.log.joined(separator: "\n"))")
            return
        }
    }

    /// What no rule catches would pass here as well.
    @Test(arguments: FetchWorld.Bug.allCases)
    func `a planted wrong decision is found`(bug: FetchWorld.Bug) {
        let isFound = (1...2_000 as ClosedRange<UInt64>).contains { seed in
            var world = FetchWorld(seed: seed, bug: bug)
            return world.run() != nil
        }
        #expect(isFound)
    }
}

/// A file of 40 blocks at one to three sources, whose servers replace it, break off and forget
/// ranges, and a task that crashes; then all of them behave.
struct FetchWorld {
    /// A wrong decision that the walk has to find.
    enum Bug: CaseIterable, Sendable {
        /// Bytes that differ are kept.
        case keepsDifferingBytes
        /// What is stored is claimed before it is synced.
        case claimsUnsyncedBytes
        /// Another version's bytes are taken for those of the version on disk.
        case believesEveryAnswer
    }

    /// What is on record, and what is in the file.
    private struct Record {
        var version = RemoteVersion()
        var segments = SegmentMap()
    }

    private static let block: Int64 = 16 << 10
    private static let blocks = 40
    private static let total = block * Int64(blocks)

    private var generator: SeededGenerator
    private let bug: Bug?
    /// The version of the file that each source serves now.
    private var served: [Int]
    private let hasDigest: Bool
    private let servesRanges: Bool
    /// The file's blocks: which version each is of; nil for nothing.
    private var disk = [Int?](repeating: nil, count: blocks)
    private var record = Record()
    private var memory = Fetch.Memory()
    private var hasFailed = false
    private var isFair = false
    private(set) var log: [String] = []
    private let isTold: Bool

    /// - Parameters:
    ///   - seed: what happens.
    ///   - bug: what is decided wrong.
    ///   - isTold: whether ``log`` tells what has happened.
    init(seed: UInt64, bug: Bug? = nil, isTold: Bool = false) {
        var generator = SeededGenerator(seed: seed)
        self.bug = bug
        self.isTold = isTold
        let sources = Int.random(in: 1...3, using: &generator)
        served = [Int](repeating: 0, count: sources)
        hasDigest = Bool.random(using: &generator)
        servesRanges = Int.random(in: 0..<8, using: &generator) > 0
        self.generator = generator
    }

    private var request: TaskRequest {
        var request = TaskRequest(url: "https://0.example/file", directory: "/tmp")
        if hasDigest { request.checksum = Checksum(.sha256, [UInt8](repeating: 7, count: 32)) }
        return request
    }

    private mutating func chance(_ percent: Int) -> Bool {
        !isFair && Int.random(in: 0..<100, using: &generator) < percent
    }

    // MARK: Attempts

    /// Runs attempts until the file is complete.
    ///
    /// - Returns: the rule that was broken; nil where all held.
    mutating func run() -> String? {
        for attempt in 0..<60 {
            isFair = attempt >= 12
            if isFair { served = served.map { _ in served[0] } }
            switch runAttempt() {
            case .complete:
                let versions = Set(disk)
                let isMixed = versions.count != 1 || disk.contains(nil)
                return isMixed ? "complete as a mixture: \(versions)" : nil
            case .broken(let rule): return rule
            case .again: continue
            }
        }
        return "does not end"
    }

    private enum AttemptEnd {
        case complete
        case again
        case broken(String)
    }

    private mutating func runAttempt() -> AttemptEnd {
        var fetch = Fetch(
            request,
            home: "https://0.example/file",
            mirrors: served.indices.dropFirst().map { "https://\($0).example/file" },
            known: record.version,
            segments: record.segments,
            memory: memory,
            hasFailed: hasFailed
        )
        if isTold { log.append("attempt with \(record.segments.byteCount / Self.block) blocks") }
        // A crash or a stop may have left anything where the record claims nothing.
        fetch.begin()
        for _ in 0..<40 {
            let before = fetch.content
            let outcome = askSource(&fetch)
            if let rule = brokenRule(fetch) { return .broken(rule) }
            switch outcome {
            case .complete where isRight || !hasDigest: return .complete
            case .complete:
                let wrong = Sources.Outcome.wrongFile(Failure(.checksumMismatch, ""))
                if !goesOn(&fetch, wrong, before) { return .again }
            case .crashed:
                memory = Fetch.Memory()
                hasFailed = false
                return .again
            case .failed(let failure):
                if !goesOn(&fetch, .failed(failure), before) { return .again }
            }
        }
        return .broken("asks for ever")
    }

    /// Whether the file is what its digest wants: one version, and home's.
    private var isRight: Bool { Set(disk) == [served[0]] }

    private mutating func goesOn(
        _ fetch: inout Fetch,
        _ outcome: Sources.Outcome,
        _ before: Content
    ) -> Bool {
        let next = fetch.next(after: outcome, before: before, at: .zero)
        if isTold { log.append("\(outcome.name) -> \(next)") }
        switch next {
        case .ask(let isGivingUp):
            if isGivingUp { record = Record() }
            return true
        case .end(let end, _):
            guard case .failed(let failure) = end else { return false }
            memory = fetch.memory(after: failure)
            hasFailed = failure.isTransient
            keep(fetch)
            if failure.code.spoilsContent { record = Record() }
            return false
        }
    }

    /// The last checkpoint of an attempt.
    private mutating func keep(_ fetch: Fetch) {
        record.segments = fetch.content.synced
        record.version = fetch.content.known
    }

    private func brokenRule(_ fetch: Fetch) -> String? {
        let content = fetch.content
        if !Self.contains(content.stored, content.synced) { return "synced what is not stored" }
        if !Self.contains(content.synced, record.segments) { return "claims what is not synced" }
        for index in disk.indices where Self.has(record.segments, index) && disk[index] == nil {
            return "claims block \(index), which is not there"
        }
        return nil
    }

    // MARK: One source

    private enum SourceEnd {
        case complete
        case crashed
        case failed(Failure)
    }

    private static let reset = Failure(.networkReset, "", isTransient: true)

    private mutating func askSource(_ fetch: inout Fetch) -> SourceEnd {
        if fetch.content.isComplete { return .complete }
        var questions = Questions(fetch, isOfCopy: false)
        while let ask = questions.next(&fetch, using: &generator) {
            if chance(5) { served[Int.random(in: served.indices, using: &generator)] += 1 }
            if chance(5) { return .crashed }
            if chance(10) { return .failed(chance(30) ? .status(404) : Self.reset) }
            let source = fetch.sources.position
            if case .sample(let range) = ask {
                if isEqual(range, served[source]) {
                    questions.take(.equal, &fetch)
                } else {
                    fetch.content.forget()
                    record = Record()
                    questions.take(.again(.whole, RemoteVersion()), &fetch)
                }
                continue
            }
            var answer = Fetch.Answer(
                facts(of: ask, from: source),
                to: ask,
                from: source,
                at: Origin(scheme: "https", host: "\(source).example", port: 443),
                isLead: true
            )
            if bug == .believesEveryAnswer, let tag = fetch.content.known.entityTag {
                answer.facts.entityTag = tag
            }
            let judgement = fetch.judge(answer)
            if isTold {
                log.append("\(ask) of \(source) (version \(served[source])): \(judgement.name)")
            }
            switch judgement {
            case .begin(let version):
                fetch.begin(version, by: answer)
                record = Record(version: version)
                disk = disk.map { _ in nil }
                bring(&fetch, answer, from: 0, to: Self.total, served[source])
            case .resume(let version):
                fetch.content.goOn(version, isCompared: false)
                record.version = version
                let end = answer.ask.end ?? Self.total
                bring(&fetch, answer, from: answer.ask.offset, to: end, served[source])
            case .compare(let version):
                let stored = fetch.content.stored
                fetch.content.goOn(version, isCompared: true)
                record.version = version
                compare(&fetch, answer, with: stored)
            case .prove(let version, let start):
                prove(&fetch, answer, version, from: start)
            case .complete(let version):
                fetch.content.know(version)
                return .complete
            case .askAgain(let next, let version):
                questions.take(.again(next, version), &fetch)
                continue
            case .check, .redirect: return .failed(.badResponse("is not meant"))
            case .fail(let failure): return .failed(failure)
            }
            if fetch.content.isComplete { return .complete }
            if chance(50) { return .failed(Self.reset) }
            questions.take(.stored, &fetch)
        }
        return .failed(.badResponse("never contains the rest of the file"))
    }

    private func facts(of ask: Ask, from source: Int) -> ResponseFacts {
        let version = served[source]
        let tag = EntityTag(opaque: "\"\(version)\"", isWeak: false)
        let isChanged = ask.ifRange.map { $0 != tag.opaque } ?? false
        guard ask.isPartial, servesRanges, !isChanged else {
            return ResponseFacts(
                status: 200,
                contentLength: .bytes(Self.total),
                entityTag: tag,
                acceptsRanges: servesRanges,
                mimeType: "application/zip"
            )
        }
        let range = ByteRange(from: ask.offset, to: ask.end ?? Self.total)
        return ResponseFacts(
            status: 206,
            contentRange: range.map { .satisfied($0, total: Self.total) },
            entityTag: tag,
            mimeType: "application/zip"
        )
    }

    // MARK: Bytes

    /// Stores some of the answer's bytes, and sometimes makes a checkpoint.
    private mutating func bring(
        _ fetch: inout Fetch,
        _ answer: Fetch.Answer,
        from start: Int64,
        to end: Int64,
        _ version: Int,
        coversAll: Bool = false
    ) {
        let blocks = (end - start) / Self.block
        let count = chance(70) ? Int64.random(in: 0...blocks, using: &generator) : blocks
        let reached = count == blocks ? end : start + count * Self.block
        guard let range = ByteRange(from: start, to: reached) else { return }
        for index in disk.indices where Self.overlaps(range, index) { disk[index] = version }
        fetch.content.store(range, from: answer.source, coversAll: coversAll)
        if bug == .claimsUnsyncedBytes { record.segments = fetch.content.stored }
        if chance(60) || isFair {
            fetch.content.sync(fetch.content.stored)
            record.segments = fetch.content.synced
        } else if chance(20) {
            fetch.content.sync(nil)
        }
    }

    /// The answer brings the file from its first byte, and is held against what is there.
    private mutating func compare(
        _ fetch: inout Fetch,
        _ answer: Fetch.Answer,
        with stored: SegmentMap
    ) {
        let version = served[answer.source]
        var position: Int64 = 0
        for range in stored.ranges {
            if let first = firstDifference(range, version), bug != .keepsDifferingBytes {
                fetch.cut(to: first, as: nil, comparedFrom: 0, by: answer)
                record.segments = fetch.content.synced
                position = first
                break
            }
            position = range.end
        }
        bring(&fetch, answer, from: min(position, stored.prefixLength), to: Self.total, version)
    }

    /// The answer's bytes decide what those on disk are worth.
    private mutating func prove(
        _ fetch: inout Fetch,
        _ answer: Fetch.Answer,
        _ version: RemoteVersion,
        from start: Int64
    ) {
        let number = served[answer.source]
        fetch.content.beginProof(from: start)
        var resume = fetch.content.size
        if case .overlap(_, let asked, _) = answer.ask, start > 0 { resume = asked }
        guard let range = ByteRange(from: start, to: resume) else { return }
        if let first = firstDifference(range, number), bug != .keepsDifferingBytes {
            guard start == 0 else {
                fetch.content.forget()
                fetch.content.know(RemoteVersion())
                record = Record()
                return
            }
            fetch.cut(to: first, as: version, comparedFrom: 0, by: answer)
            record = Record(version: version, segments: fetch.content.synced)
            return bring(&fetch, answer, from: first, to: Self.total, number)
        }
        _ = fetch.adopt(version, from: start, to: resume, by: answer)
        record = Record(version: version, segments: fetch.content.synced)
        bring(&fetch, answer, from: resume, to: answer.ask.end ?? Self.total, number)
    }

    private func isEqual(_ range: ByteRange, _ version: Int) -> Bool {
        firstDifference(range, version) == nil
    }

    /// The first byte of the range that is not of this version.
    private func firstDifference(_ range: ByteRange, _ version: Int) -> Int64? {
        for index in disk.indices where Self.overlaps(range, index) && disk[index] != version {
            return max(range.first, Int64(index) * Self.block)
        }
        return nil
    }

    private static func overlaps(_ range: ByteRange, _ index: Int) -> Bool {
        range.first < Int64(index + 1) * block && Int64(index) * block < range.end
    }

    private static func has(_ map: SegmentMap, _ index: Int) -> Bool {
        let (first, end) = (Int64(index) * block, Int64(index + 1) * block)
        return map.ranges.contains { $0.first <= first && end <= $0.end }
    }

    private static func contains(_ map: SegmentMap, _ other: SegmentMap) -> Bool {
        var sum = map
        for range in other.ranges { sum.insert(range) }
        return sum == map
    }
}
