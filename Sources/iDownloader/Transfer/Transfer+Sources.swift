// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

// Where the file comes from: its URL, and where that fails, its mirrors.
extension Transfer {
    /// Brings a file that fits its digests, from whatever source has it.
    ///
    /// - Throws: why no source has it.
    func bring() async throws(TransferEnd) {
        if target.isPublished { return }
        fetch.begin()
        while true {
            let before = content
            let outcome: Sources.Outcome
            var bad: [ByteRange] = []
            switch await bringFromSource() {
            case .file: return
            case .badPieces(let pieces): (outcome, bad) = (.badPieces, pieces)
            case .wrongFile(let failure): outcome = .wrongFile(failure)
            case .end(.failed(let failure)) where failure.code.isOfSource && !brake.isPulled:
                outcome = .failed(failure)
            case .end(.held(.hostRests(let time))) where !brake.isPulled: outcome = .rests(time)
            case .end(let end): throw end
            }
            switch fetch.next(after: outcome, before: before) {
            case .ask: try await giveUp(bad)
            case .end(let end, _): try await conclude(end)
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
            try await fetchAll()
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
        return try await verifier.verify(target.part, size: content.size, as: content.known) {
            () throws(TransferEnd) in try await ledger.pieceHashes()
        }
    }

    /// A body without a length has ended, and is held against its digest now: a pause meanwhile
    /// must not cost it.
    private func noteEnd() async throws(TransferEnd) {
        guard content.known.total == nil, fetch.hasDigest else { return }
        var version = content.known
        version.total = content.size
        try await note(version)
    }

    /// Ends an attempt in which every source has failed, or wants to be left alone.
    private func conclude(_ end: TransferEnd) async throws(TransferEnd) -> Never {
        // The next attempt is not to take what was given up for a version of the file.
        if !end.spoilsContent, content.stored.isEmpty, content.known != ledger.version,
            let file = target.file
        {
            try await ledger.commit(.opened(file, content.known, keeping: content.stored))
        }
        throw end
    }

    /// The record gives up what does not fit before it is overwritten.
    private func giveUp(_ bad: [ByteRange]) async throws(TransferEnd) {
        guard !bad.isEmpty else { return }
        fetch.content.remove(bad)
        try await ledger.commit(.checkpointed(content.synced))
    }

    // MARK: Mirrors

    /// The source that is asked now, as the start of a chain of redirects.
    ///
    /// A mirror may be one that a server has named: it is no way to this machine either.
    var firstHop: Hop { firstHop(to: fetch.sources.position) }

    /// A source as the start of a chain of redirects.
    ///
    /// While nobody has said how far the first connection's host is, its name counts.
    func firstHop(to source: Int) -> Hop {
        guard source != 0 else { return Hop(home: home) }
        let apparent = joining.flatMap { $0.hops[$0.source]?.apparentReach }
        let unknown: SocketAddress.Reach? = fetch.sources.isNamed(source) ? .beyond : nil
        let reach = [furthestHost, apparent].compactMap(\.self).max() ?? unknown
        // It was read once before.
        let url = (try? URLReference(fetch.sources.urls[source])) ?? home
        return Hop(url: url, home: home, reach: reach)
    }

    /// Takes note of the mirrors that the server of the client's URL names (RFC 6249).
    func noteMirrors(in head: ResponseHead, from connection: Connection) {
        guard connection.source == 0, [200, 206].contains(head.facts.status) else { return }
        for reference in DuplicateLinks.references(head.fields) {
            guard let url = try? connection.hop.url.resolving(reference),
                Self.schemes.contains(url.scheme)
            else { continue }
            fetch.sources.add(url.text)
        }
    }

    /// What mirrors that a server names, and listed files, may have: none that asks for a login.
    static let schemes: Set<String> = ["http", "https", "ftp", "ftps"]
}
