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
        var repairs = 0
        while true {
            switch await bringFromSource() {
            case .success(let bad) where bad.isEmpty:
                return
            case .success(let bad):
                repairs += 1
                guard repairs <= Self.mostRepairs else { throw .failed(Self.beyondRepair) }
                try await giveUp(bad)
                sources.rotate()
            case .failure(.failed(let failure)) where failure.code.isOfSource && !brake.isPulled:
                failures.append(failure)
                guard sources.advance() else { throw .failed(Self.verdict(on: failures)) }
                if failure.code.spoilsContent, hasContent { giveUpEverything() }
            case .failure(let end):
                throw end
            }
        }
    }

    private func bringFromSource() async -> Result<[ByteRange], TransferEnd> {
        do throws(TransferEnd) {
            try await fetch()
            return .success(try await verify())
        } catch {
            return .failure(error)
        }
    }

    private static let beyondRepair = Failure(
        .checksumMismatch,
        "pieces of the file are wrong wherever they were fetched from"
    )

    /// What to say where every source has failed: that the file is not the right one, else what
    /// may pass, else what the client's own URL gave.
    private static func verdict(on failures: [Failure]) -> Failure {
        failures.first { $0.code.spoilsContent } ?? failures.first(where: \.isTransient)
            ?? failures.first ?? .badResponse("brings no file")
    }

    private var hasContent: Bool { !stored.isEmpty || known.total != nil }

    /// The bytes on disk are those of another file.
    func giveUpEverything() {
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
    var firstHop: Hop {
        sources.isAtHome
            ? Hop(home: home) : Hop(url: sources.current, home: home, reach: furthestHost)
    }

    /// The first request to the present source.
    ///
    /// A mirror has validators of its own, which say nothing about those on record.
    func firstAsk() -> Ask {
        let ask = Ask.first(for: stored, of: known)
        return isVouchedFor ? ask.unconditional : ask
    }

    /// Whether equal lengths are enough to take a mirror's bytes for those of the file: a digest of
    /// the whole tells in the end.
    var isVouchedFor: Bool { !sources.isAtHome && hasDigest }

    /// A head as it is judged: a mirror that is vouched for is taken to have the version on record.
    func facts(of head: ResponseHead) -> ResponseFacts {
        var facts = head.facts
        guard isVouchedFor, known.total != nil else { return facts }
        facts.entityTag = known.entityTag
        facts.lastModified = known.lastModified
        facts.checksum = known.checksum
        return facts
    }

    /// Why a mirror's answer is not that of the same file, before it costs the bytes on disk.
    func refusal(of facts: ResponseFacts) -> Failure? {
        guard !sources.isAtHome, !stored.isEmpty, let total = known.total else { return nil }
        let itsTotal: Int64?
        switch facts.contentRange {
        case .satisfied(_, let total): itsTotal = total
        case .unsatisfied(let total): itsTotal = total
        case nil: itsTotal = facts.status == 200 ? facts.contentLength.bytes : nil
        }
        guard let itsTotal, itsTotal != total else { return nil }
        return Failure(
            .serverContentChanged,
            "a mirror has a file of \(itsTotal) bytes, not of \(total)"
        )
    }

    /// Takes note of the mirrors that the server of the client's URL names (RFC 6249).
    func noteMirrors(in head: ResponseHead, at hop: Hop) {
        guard sources.isAtHome, head.facts.status == 200 || head.facts.status == 206 else { return }
        for reference in DuplicateLinks.references(head.fields) {
            guard let url = try? hop.url.resolving(reference), Self.schemes.contains(url.scheme)
            else { continue }
            sources.add(url)
        }
    }

    /// What mirrors and listed files may have.
    static let schemes: Set<String> = ["http", "https"]
}
