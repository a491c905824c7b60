// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownTesting

@testable import iDownState

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
            case .broken(let rule): return .broken(rule)
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
        case broken(String)
    }

    private static let reset = Failure(.networkReset, "", isTransient: true)

    private mutating func askSource(_ fetch: inout Fetch) -> SourceEnd {
        if fetch.content.isComplete { return .complete }
        var questions = Questions(fetch)
        while let ask = questions.next(&fetch, using: &generator) {
            if chance(5) { served[Int.random(in: served.indices, using: &generator)] += 1 }
            if chance(5) { return .crashed }
            if chance(10) { return .failed(chance(30) ? .status(404) : Self.reset) }
            let source = fetch.sources.position
            let (id, route) = fetch.requests.begin(ask, of: source, at: .zero)
            defer { fetch.requests.closed(id) }
            var answer = Fetch.Answer(
                facts(of: ask, from: source),
                on: route,
                at: Origin(scheme: "https", host: "\(source).example", port: 443)
            )
            answer.path = "/file"
            if bug == .believesEveryAnswer, let tag = fetch.content.known.entityTag {
                answer.facts.entityTag = tag
            }
            let judgement = fetch.judge(answer, over: id)
            if isTold {
                log.append("\(ask) of \(source) (version \(served[source])): \(judgement.name)")
            }
            var isWhole = true
            switch judgement {
            case .begin, .resume, .compare, .prove, .check:
                guard let body = fetch.open(id) else {
                    return .failed(.badResponse("is not meant"))
                }
                let first = answer.facts.status == 206 ? ask.offset : 0
                if body.start != first { return .broken("\(ask) begins at \(body.start)") }
                if case .begin = judgement { disk = disk.map { _ in nil } }
                isWhole = bring(&fetch, id, body, served[source])
            case .complete(let version):
                fetch.content.know(version)
                return .complete
            case .askAgain(let next, let version):
                questions.take(.again(next, version), &fetch)
                continue
            case .redirect: return .failed(.badResponse("is not meant"))
            case .fail(let failure): return .failed(failure)
            }
            guard let end = fetch.answer(id, isWhole: isWhole) else { return .failed(Self.reset) }
            questions.take(end, &fetch)
            if questions.areAnswered { return .complete }
        }
        return .failed(.badResponse("never contains the rest of the file"))
    }

    private mutating func facts(of ask: Ask, from source: Int) -> ResponseFacts {
        let version = served[source]
        let tag = EntityTag(opaque: "\"\(version)\"", isWeak: false)
        let isChanged = ask.ifRange.map { $0 != tag.opaque } ?? false
        // Some caches have the file for one request and not for the next.
        guard ask.isPartial, servesRanges, !isChanged, !chance(10) else {
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

    /// Compares and stores some of a body, and sometimes makes a checkpoint.
    ///
    /// - Returns: whether all of it has come.
    private mutating func bring(
        _ fetch: inout Fetch,
        _ id: Int,
        _ body: Fetch.Body,
        _ version: Int
    ) -> Bool {
        fetch.requests.brings(id, from: body.start, at: .zero)
        claim(fetch)
        // It breaks before anything is proven.
        if body.isProof, chance(10) { return false }
        var position = body.start
        for range in body.compared.ranges {
            if bug != .keepsDifferingBytes, let first = firstDifference(range, version) {
                guard fetch.differs(id, at: first) != .worthless else {
                    record = Record()
                    return true
                }
                claim(fetch)
                position = first
                break
            }
            position = range.end
        }
        if body.isProof, fetch.proven(id) != nil { claim(fetch) }
        let end = body.end ?? Self.total
        let blocks = max(0, end - position) / Self.block
        let count = chance(70) ? Int64.random(in: 0...blocks, using: &generator) : blocks
        let reached = count == blocks ? end : position + count * Self.block
        var compared = body.compared
        compared.truncate(to: position)
        if let range = ByteRange(from: body.start, to: reached) {
            for index in disk.indices
            where Self.overlaps(range, index) && !Self.has(compared, index) {
                disk[index] = version
            }
        }
        fetch.stored(id, upTo: reached)
        if bug == .claimsUnsyncedBytes { record.segments = fetch.content.stored }
        if chance(60) || isFair {
            fetch.content.sync(fetch.content.stored)
            record.segments = fetch.content.synced
        } else if chance(20) {
            fetch.content.sync(nil)
        }
        return reached == end && !chance(30)
    }

    /// The record claims what is safe, as the version that it is of.
    private mutating func claim(_ fetch: Fetch) {
        record = Record(version: fetch.content.known, segments: fetch.content.synced)
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
