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
        var failures: [Failure] = []
        var rest: Rest?
        var repairs = 0
        var isHeardAlone = false
        // Those that have failed since the last repair.
        var failed: Set<Int> = []
        while true {
            switch await bringFromSource() {
            case .success(let bad) where bad.isEmpty:
                return
            case .success(let bad):
                sources.stopMixing()
                repairs += 1
                guard repairs <= Self.mostRepairs else { throw .failed(Self.beyondRepair) }
                try await giveUp(bad)
                failed = []
                sources.rotate()
            case .failure(.failed(let failure))
            where failure.code.spoilsContent && isMixed && !isHeardAlone && !brake.isPulled:
                // Which of them was it? Each is heard alone now.
                isHeardAlone = true
                sources.stopMixing()
                sources.returnHome()
                isMixed = false
                giveUpEverything()
            case .failure(.failed(let failure)) where failure.code.isOfSource && !brake.isPulled:
                failures.append(failure)
                if sources.isAtHome, !failure.isTransient { homeHasNone = true }
                failed.insert(sources.position)
                // Whoever has brought a wrong piece is the last to be asked for it again.
                guard repairs > 0 ? sources.rotate(past: failed) : sources.advance() else {
                    throw end(after: failures, rest)
                }
                if failure.code.spoilsContent, hasContent { giveUpEverything() }
                if !stored.isEmpty { isMixed = true }
            case .failure(.held(.hostRests(let time))) where !brake.isPulled:
                // It is the host's wish, and no other's.
                rest = rest ?? Rest(time: time, isHome: sources.isAtHome)
                failed.insert(sources.position)
                guard repairs > 0 ? sources.rotate(past: failed) : sources.advance() else {
                    throw end(after: failures, rest)
                }
            case .failure(let end):
                throw end
            }
        }
    }

    private func bringFromSource() async -> Result<[ByteRange], TransferEnd> {
        do throws(TransferEnd) {
            try await fetch()
            try await lookBack()
            return .success(try await verify())
        } catch {
            return .failure(error)
        }
    }

    private static let beyondRepair = Failure(
        .checksumMismatch,
        "pieces of the file are wrong wherever they were fetched from"
    )

    private struct Rest {
        let time: Duration
        let isHome: Bool
    }

    /// How an attempt ends in which every source has failed, or wants to be left alone.
    private func end(after failures: [Failure], _ rest: Rest?) -> TransferEnd {
        let verdict = verdict(on: failures)
        // Whoever rests may still have the file. While home does, nobody counts how often its
        // mirrors fail; while a mirror does, home is tried again like any other.
        guard let rest, rest.isHome || !verdict.isTransient else { return .failed(verdict) }
        return .held(.hostRests(for: rest.time))
    }

    /// What to say where every source has failed: what may pass where there are bytes to go on
    /// with, else that the file is not the right one, else what may pass, else that another file is
    /// all there is, unless a fresh link may give the right one, else what the client's own URL gave.
    private func verdict(on failures: [Failure]) -> Failure {
        let passing = failures.first(where: \.isTransient)
        // Only where home, which is asked first again, costs no more than a head.
        let isOutvoted = !stored.isEmpty && known.total == job.request.expectedSize
        if isOutvoted, !failures.contains(where: { $0.code == .checksumMismatch }),
            failures.last?.code.spoilsContent == false, let passing
        {
            return passing
        }
        let refusal = failures.first {
            $0.code == .serverForbidden || $0.code == .serverAuthRequired
        }
        return failures.first { $0.code.spoilsContent } ?? passing
            ?? otherFile.map { refusal ?? $0 } ?? failures.first ?? .badResponse("brings no file")
    }

    private var hasContent: Bool { !stored.isEmpty || known.total != nil }

    /// The bytes on disk are those of another file.
    func giveUpEverything() {
        keepsEarlierBytes = false
        stored = SegmentMap()
        synced = SegmentMap()
        known = RemoteVersion()
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
        // What an earlier attempt has left may be one's of which only such a list knew.
        if keepsEarlierBytes, sources.urls.count > 1 { isMixed = true }
    }

    /// What mirrors that a server names, and listed files, may have: none that asks for a login.
    static let schemes: Set<String> = ["http", "https", "ftp", "ftps"]
}
