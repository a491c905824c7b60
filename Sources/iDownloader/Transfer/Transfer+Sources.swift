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
        if target.isPublished { return }
        var round = beginRound()
        var repairs = 0
        while true {
            let before = (stored.byteCount, owner)
            switch await bringFromSource() {
            case .file:
                return
            case .badPieces(let bad):
                sources.stopMixing()
                homeIsGone = false
                repairs += 1
                guard repairs <= Self.mostRepairs else { throw .failed(Self.beyondRepair) }
                try await giveUp(bad)
                // Whoever has brought a wrong piece is the last to be asked for it again.
                round.forgive()
                sources.rotate()
            case .wrongFile where isMixed && !findings.areHeardAlone:
                // Which of them was it? Each is heard alone now.
                findings.areHeardAlone = true
                sources.stopMixing()
                giveUpEverything()
                round.beginAnew(past: wrongSources)
                sources.begin(past: round.failed)
            case .wrongFile(let failure):
                if !isMixed { findings.wrong.insert(sources.current) }
                try await goOn(after: failure, in: &round, givingUp: true)
            case .end(.failed(let failure)) where failure.code.isOfSource && !brake.isPulled:
                if sources.isAtHome, job.hasFailed, failure.code.isOfNetwork {
                    homeIsGone = stored.byteCount <= before.0
                }
                if isGoingOnAlone(after: failure, before) { throw .failed(failure) }
                // What its head says of the size is of its own file, and of nobody else's.
                let isWrong = failure.code.spoilsContent
                if isWrong { findings.wrong.insert(sources.current) }
                let isItsOwn = owner == sources.position
                try await goOn(after: failure, in: &round, givingUp: isWrong && isItsOwn)
            case .end(.held(.hostRests(let time))) where !brake.isPulled:
                // It is the host's wish, and no other's.
                round.add(SourceRound.Rest(time: time, isHome: sources.isAtHome))
                guard round.goesOn(&sources) else { try await conclude(round) }
            case .end(let end):
                throw end
            }
        }
    }

    /// What one source has come to.
    private enum Outcome {
        case file
        /// These pieces do not fit, and the rest need not be fetched again.
        case badPieces([ByteRange])
        /// All of it is there, and it is not the right one.
        case wrongFile(Failure)
        case end(TransferEnd)
    }

    private func bringFromSource() async -> Outcome {
        var isComplete = false
        do throws(TransferEnd) {
            try await fetch()
            try await lookBack()
            try await noteEnd()
            isComplete = true
            let bad = try await verify()
            return bad.isEmpty ? .file : .badPieces(bad)
        } catch {
            guard isComplete, !brake.isPulled, case .failed(let failure) = error,
                failure.code.spoilsContent
            else { return .end(error) }
            return .wrongFile(failure)
        }
    }

    private func verify() async throws(TransferEnd) -> [ByteRange] {
        live.activity = .verifying
        let ledger = ledger
        return try await verifier.verify(target.part, size: stored.prefixLength, as: known) {
            () throws(TransferEnd) in try await ledger.pieceHashes()
        }
    }

    /// Whether a wrong byte will show at the end, wherever it came from.
    var hasDigest: Bool { job.request.hasDigest(of: known) }

    /// A body without a length has ended, and is held against its digest now: a pause meanwhile
    /// must not cost it.
    private func noteEnd() async throws(TransferEnd) {
        guard known.total == nil, hasDigest else { return }
        var version = known
        version.total = stored.prefixLength
        try await note(version)
    }

    // MARK: One after the other

    private var wrongSources: Set<Int> { sources.positions(of: findings.wrong) }

    /// Begins with the client's URL, unless earlier attempts have found out better.
    private func beginRound() -> SourceRound {
        // Where nobody has it right, somebody may by now.
        if wrongSources.count == sources.urls.count { findings.trustAll() }
        let round = SourceRound(past: wrongSources)
        if round.failed.contains(0) { homeHasNone = true }
        sources.begin(past: round.failed)
        if findings.areHeardAlone, !stored.isEmpty, let owner, !round.failed.contains(owner) {
            sources.begin(at: owner)
        }
        return round
    }

    /// Whether what is on disk may be of several sources.
    private var isMixed: Bool {
        sources.urls.count > 1 && !stored.isEmpty && owner != sources.position
    }

    /// Whether a source that is heard alone goes on in the next attempt: while it brings more each
    /// time, and where the others have had their turns.
    private func isGoingOnAlone(after failure: Failure, _ before: (Int64, Int?)) -> Bool {
        guard findings.areHeardAlone, failure.isTransient, !stored.isEmpty,
            owner == sources.position
        else { return false }
        let isMore = before.1 != owner || stored.byteCount > before.0
        return isMore || findings.turnsLeft == 0
    }

    /// Asks the next source; where none is left, the attempt ends.
    private func goOn(
        after failure: Failure,
        in round: inout SourceRound,
        givingUp isWorthless: Bool
    ) async throws(TransferEnd) {
        if sources.isAtHome, !failure.isTransient { homeHasNone = true }
        let hasHope = failure.isTransient && !stored.isEmpty
        round.add(SourceRound.Refusal(failure: failure, hasHope: hasHope))
        guard round.goesOn(&sources) else {
            // What a failed task has stays to be seen.
            if isWorthless, !round.end(otherFile).spoilsContent { giveUpEverything() }
            try await conclude(round)
        }
        if isWorthless { giveUpEverything() }
    }

    /// Ends an attempt in which every source has failed, or wants to be left alone.
    private func conclude(_ round: SourceRound) async throws(TransferEnd) -> Never {
        let end = round.end(otherFile)
        // The next attempt is not to take what was given up for a version of the file.
        if !end.spoilsContent, stored.isEmpty, known != ledger.version, let file = target.file {
            try await ledger.commit(.opened(file, known, keeping: stored))
        }
        throw end
    }

    private static let beyondRepair = Failure(
        .checksumMismatch,
        "Parts of the file are wrong at every source. Check the checksums, or \(Failure.freshLink)"
    )

    /// Has the next attempt know what this one has found out; a file that nobody has right is
    /// looked for anew.
    func keepFindings(after failure: Failure?) {
        if failure?.code.spoilsContent == true, !brake.isPulled { findings.trustAll() }
        findings.home = home
        findings.owner = sources.urls.count > 1 ? owner.map { sources.urls[$0] } : nil
        findings.mirrors = stored.isEmpty && !findings.haveDoubts ? [] : sources.named
        findings.reach = furthestHost
        engine.keep(findings, on: job.task)
    }

    /// The bytes on disk are those of another file.
    func giveUpEverything() {
        stored = SegmentMap()
        synced = SegmentMap()
        own(by: nil)
        known = RemoteVersion(checksum: homeDigest)
    }

    /// The record gives up what does not fit before it is overwritten.
    private func giveUp(_ bad: [ByteRange]) async throws(TransferEnd) {
        for range in bad {
            stored.remove(range)
            synced.remove(range)
        }
        try await ledger.commit(.checkpointed(synced))
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
        let unknown: SocketAddress.Reach? = sources.isNamed(source) ? .beyond : nil
        let reach = [furthestHost, apparent].compactMap(\.self).max() ?? unknown
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
    ///
    /// - Parameters:
    ///   - facts: what the answer says.
    ///   - source: whose it is.
    ///   - isDecoded: its body has a coding that is taken off.
    /// - Returns: why it brings no part of the file; nil where it may.
    func refusal(of facts: ResponseFacts, from source: Int, isDecoded: Bool) -> Failure? {
        guard !stored.isEmpty, let total = known.total else { return nil }
        let isOutvoted = sources.urls.count > 1 && total == job.request.expectedSize
        guard source != 0 || isOutvoted else { return nil }
        let itsTotal: Int64?
        switch facts.contentRange {
        case .satisfied(_, let total): itsTotal = total
        case .unsatisfied(let total): itsTotal = total
        case nil:
            let isWhole = [200, 203].contains(facts.status)
            itsTotal = isWhole && !isDecoded ? facts.contentLength.bytes : nil
            let isSame = facts.entityTag != nil && facts.entityTag == known.entityTag
            // What is decoded cannot be compared with what is there, and begins anew.
            let mayReplace = isVouchedFor(source) && (!isDecoded || homeIsGone)
            if source != 0, !homeHasNone, isWhole, itsTotal == nil, !mayReplace,
                isDecoded || !isSame
            {
                return Failure(.serverBadResponse, "A mirror does not tell the length of its file.")
            }
        }
        guard let itsTotal, itsTotal != total else { return nil }
        let who = source == 0 ? "server" : "mirror"
        let text = "The file on the \(who) has \(itsTotal) bytes instead of \(total)."
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
