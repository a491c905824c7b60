// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

// Where the file comes from: its URL, and where that fails, its mirrors.
extension Transfer {
    /// Pieces that do not fit are fetched again so many times, each time from the next source.
    private static let mostRepairs = 5

    /// Brings a file that fits its digests, from whatever source has it.
    ///
    /// - Throws: why no source has it.
    func bring() async throws(TransferEnd) {
        if isPublished { return }
        var round = Round(past: sources.positions(of: findings.wrong))
        if round.failed.count == sources.urls.count {
            findings = SourceFindings()
            round = Round(past: [])
        }
        if round.failed.contains(0) { homeHasNone = true }
        sources.begin(past: round.failed)
        var repairs = 0
        while true {
            hasBrought = false
            switch await bringFromSource() {
            case .success(let bad) where bad.isEmpty:
                return
            case .success(let bad):
                sources.stopMixing()
                repairs += 1
                guard repairs <= Self.mostRepairs else { throw .failed(Self.beyondRepair) }
                try await giveUp(bad)
                // Whoever has brought a wrong piece is the last to be asked for it again.
                round.failed = []
                sources.rotate()
            case .failure(.failed(let failure))
            where failure.code.spoilsContent && isMixed && !findings.areHeardAlone
                && !brake.isPulled:
                // Which of them was it? Each is heard alone now.
                findings.areHeardAlone = true
                sources.stopMixing()
                giveUpEverything()
                round.failed = round.unheard
                sources.begin(past: round.failed)
            case .failure(.failed(let failure)) where failure.code.isOfSource && !brake.isPulled:
                if sources.isAtHome, !failure.isTransient { homeHasNone = true }
                let hasHope = failure.isTransient && (hasBrought || !stored.isEmpty)
                round.failures.append(SourceFailure(failure: failure, hasHope: hasHope))
                if failure.code.spoilsContent, !isMixed { findings.wrong.insert(sources.current) }
                guard round.goesOn(&sources) else { try await conclude(round) }
                if failure.code.spoilsContent, hasContent { giveUpEverything() }
            case .failure(.held(.hostRests(let time))) where !brake.isPulled:
                // It is the host's wish, and no other's.
                round.rest = round.rest ?? Rest(time: time, isHome: sources.isAtHome)
                guard round.goesOn(&sources) else { try await conclude(round) }
            case .failure(let end):
                throw end
            }
        }
    }

    private func bringFromSource() async -> Result<[ByteRange], TransferEnd> {
        do throws(TransferEnd) {
            try await fetch()
            try await lookBack()
            try await noteEnd()
            return .success(try await verify())
        } catch {
            return .failure(error)
        }
    }

    /// A body without a length has ended, and is held against its digest now: a pause meanwhile
    /// must not cost it.
    private func noteEnd() async throws(TransferEnd) {
        guard known.total == nil, hasDigest else { return }
        var version = known
        version.total = stored.prefixLength
        try await note(version)
    }

    /// Whether some of what is on disk may be of others than the source that is asked.
    private var isMixed: Bool {
        sources.urls.count > 1 && !stored.isEmpty && owner != sources.position
    }

    /// Has the next attempt know what this one has found out; a file that nobody has right is
    /// looked for anew.
    func keepFindings(after failure: Failure?) {
        if failure?.code.spoilsContent == true { findings = SourceFindings() }
        findings.owner = owner.map { sources.urls[$0] }
        findings.mirrors = Array(sources.urls.dropFirst())
        engine.keep(findings, on: job.task)
    }

    private static let beyondRepair = Failure(
        .checksumMismatch,
        "pieces of the file are wrong wherever they were fetched from"
    )

    private struct Rest {
        let time: Duration
        let isHome: Bool
    }

    private struct SourceFailure {
        let failure: Failure
        /// It may well pass: the source has brought bytes, or there are some to go on with.
        let hasHope: Bool
    }

    /// One after the other is asked, until one has brought the file or none is left.
    private struct Round {
        var failures: [SourceFailure] = []
        var rest: Rest?
        /// Those that have failed since the last repair.
        var failed: Set<Int>
        /// Those that had a wrong file in an earlier attempt, and are not asked while another may
        /// yet have the right one.
        var unheard: Set<Int>

        init(past wrong: Set<Int>) {
            failed = wrong
            unheard = wrong
        }

        /// Goes on to the next source; false where none is left.
        mutating func goesOn(_ sources: inout Sources) -> Bool {
            failed.insert(sources.position)
            if sources.rotate(past: failed) { return true }
            guard rest == nil, !failures.contains(where: \.hasHope) else { return false }
            failed.subtract(unheard)
            unheard = []
            return sources.rotate(past: failed)
        }
    }

    /// Ends an attempt in which every source has failed, or wants to be left alone.
    private func conclude(_ round: Round) async throws(TransferEnd) -> Never {
        let end = end(after: round)
        if case .failed(let failure) = end, failure.code.spoilsContent { throw end }
        // The next attempt is not to take what was given up for a version of the file.
        if round.failures.last?.failure.code.spoilsContent == true { giveUpEverything() }
        if stored.isEmpty, known != recordedVersion, let file {
            try await commit(.opened(file, known, keeping: stored))
        }
        throw end
    }

    private func end(after round: Round) -> TransferEnd {
        let verdict = verdict(on: round.failures)
        // Whoever rests may still have the file. While home does, nobody counts how often its
        // mirrors fail; while a mirror does, home is tried again like any other.
        guard let rest = round.rest, rest.isHome || !verdict.isTransient else {
            return .failed(verdict)
        }
        return .held(.hostRests(for: rest.time))
    }

    /// What to say where every source has failed: what may well pass, for those that are wrong are
    /// not asked again meanwhile; else that the file is not the right one, else what may pass, else
    /// that another file is all there is, unless a fresh link may give the right one, else what the
    /// client's own URL gave.
    private func verdict(on failures: [SourceFailure]) -> Failure {
        if let hope = failures.first(where: \.hasHope) { return hope.failure }
        let failures = failures.map(\.failure)
        let refusal = failures.first {
            $0.code == .serverForbidden || $0.code == .serverAuthRequired
        }
        return failures.first { $0.code.spoilsContent } ?? failures.first(where: \.isTransient)
            ?? otherFile.map { refusal ?? $0 } ?? failures.first ?? .badResponse("brings no file")
    }

    private var hasContent: Bool { !stored.isEmpty || known.total != nil }

    /// The bytes on disk are those of another file.
    func giveUpEverything() {
        stored = SegmentMap()
        synced = SegmentMap()
        known = RemoteVersion(checksum: homeDigest)
    }

    /// The record gives up what does not fit before it is overwritten.
    private func giveUp(_ bad: [ByteRange]) async throws(TransferEnd) {
        for range in bad {
            stored.remove(range)
            synced.remove(range)
        }
        try await commit(.checkpointed(synced))
    }

    // MARK: Mirrors

    /// The source that is asked now, as the start of a chain of redirects.
    ///
    /// A mirror may be one that a server has named: it is no way to this machine either.
    var firstHop: Hop { firstHop(to: sources.position) }

    /// A source as the start of a chain of redirects.
    ///
    /// While nobody has said how far the first connection's host is, its name counts.
    func firstHop(to source: Int) -> Hop {
        guard source != 0 else { return Hop(home: home) }
        let apparent = joining.flatMap { $0.hops[$0.source]?.apparentReach }
        let reach = [furthestHost, apparent].compactMap(\.self).max()
        return Hop(url: sources.urls[source], home: home, reach: reach)
    }

    /// The first request to the present source.
    ///
    /// A mirror has validators of its own, which say nothing about those on record.
    func firstAsk() -> Ask {
        // Who is heard alone has to show that what others have brought is what it has.
        if findings.areHeardAlone, !stored.isEmpty, owner != sources.position { return .whole }
        let ask = Ask.first(for: stored, of: known)
        return isVouchedFor(sources.position) ? ask.unconditional : ask
    }

    /// Whether equal lengths are enough to take a source's bytes for those of the file: a digest
    /// of the whole tells in the end.
    func isVouchedFor(_ source: Int) -> Bool {
        hasDigest && (source != 0 || !sources.isAtHome)
    }

    /// A head as it is judged: a mirror that is vouched for is taken to have the version on record.
    ///
    /// Whoever answers without a length may bring a page in place of the file, and a digest of the
    /// client's own server goes before a mirror's.
    func facts(of head: ResponseHead, from source: Int) -> ResponseFacts {
        var facts = head.facts
        if source != 0 {
            facts.checksum = homeDigest ?? facts.checksum
            // Of another host a date that differs tells nothing: its tag or its bytes do.
            if let date = known.lastModified, facts.lastModified?.field != date.field {
                facts.lastModified = nil
            }
        } else if facts.status == 200 || (facts.status == 206 && facts.checksum != nil) {
            // Of an encoded body, or a page in place of the file, it tells nothing of the file; a
            // part may not say it again.
            homeDigest = facts.contentEncoding == nil ? facts.checksum : nil
        }
        if bringsInOneAnswer, !sources.urls[source].isHTTP {
            facts = facts.inOneAnswer
            if distrustsSize { facts.contentLength = .unknown }
        }
        guard isVouchedFor(source), known.total != nil,
            facts.contentLength.bytes != nil || !facts.standsInForFile(of: known, onDisk: stored)
        else { return facts }
        facts.entityTag = known.entityTag
        facts.lastModified = known.lastModified
        facts.checksum = known.checksum
        return facts
    }

    /// Why a source's answer is not that of the same file, before it costs the bytes on disk.
    ///
    /// Home has the last word, unless what is there has the size that the client expects.
    func refusal(of facts: ResponseFacts, from source: Int) -> Failure? {
        guard !stored.isEmpty, let total = known.total else { return nil }
        let isOutvoted = sources.urls.count > 1 && total == job.request.expectedSize
        guard source != 0 || isOutvoted else { return nil }
        let itsTotal: Int64?
        switch facts.contentRange {
        case .satisfied(_, let total): itsTotal = total
        case .unsatisfied(let total): itsTotal = total
        case nil:
            itsTotal = [200, 203].contains(facts.status) ? facts.contentLength.bytes : nil
            let isSame = facts.entityTag != nil && facts.entityTag == known.entityTag
            if source != 0, !homeHasNone, [200, 203].contains(facts.status), itsTotal == nil,
                !isSame, !isVouchedFor(source)
            {
                return .badResponse("of a mirror does not say how long its file is")
            }
        }
        guard let itsTotal, itsTotal != total else { return nil }
        let who = source == 0 ? "the server" : "a mirror"
        let text = "\(who) has a file of \(itsTotal) bytes, not of \(total)"
        if source != 0 { otherFile = Failure(.serverContentChanged, text) }
        return Failure(.serverBadResponse, text)
    }

    /// Takes note of the mirrors that the server of the client's URL names (RFC 6249).
    func noteMirrors(in head: ResponseHead, from connection: Connection) {
        guard connection.source == 0, [200, 206].contains(head.facts.status) else { return }
        for reference in DuplicateLinks.references(head.fields) {
            guard let url = try? connection.hop.url.resolving(reference),
                Self.schemes.contains(url.scheme)
            else { continue }
            sources.add(url)
        }
    }

    /// What mirrors that a server names, and listed files, may have: none that asks for a login.
    static let schemes: Set<String> = ["http", "https", "ftp", "ftps"]
}
