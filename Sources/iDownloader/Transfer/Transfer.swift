// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

/// One attempt to bring a task's file: asks, judges, stores, and publishes.
///
/// Every step that others rely on is committed to the journal before the next one is taken. The
/// actor owns the partial file; the segment map is the only record of what is in it.
actor Transfer {
    let engine: Engine
    let job: TransferJob
    let home: URLReference
    /// The record of the task, as this attempt writes it.
    let ledger: Ledger
    /// The file on its disk.
    let target: TargetFile
    /// What the file is held against.
    let verifier: Verifier
    let live: LiveProgress
    let brake: Brake
    /// How many connections somebody wants it to have.
    let choice: ConnectionChoice

    /// The version that the bytes on disk belong to.
    var known: RemoteVersion {
        didSet { live.total = known.total }
    }
    /// The bytes on disk that are synced: what the record may claim.
    var synced: SegmentMap
    /// The bytes on disk, synced or not; those of open segments count when they are settled.
    var stored: SegmentMap {
        didSet {
            live.store(stored)
            if stored.prefixLength < oldValue.prefixLength { verifier.restart() }
        }
    }
    /// What the server of the client's URL says that the file comes to.
    var homeDigest: Checksum?
    /// The client's own URL has failed for good in this attempt.
    var homeHasNone = false
    /// A mirror has a file of another length.
    var otherFile: Failure?
    /// Where the file is fetched from.
    var sources: Sources {
        // What one server's samples have shown says nothing of another's.
        didSet { if sources.position != oldValue.position { hasEqualSamples = false } }
    }
    /// Those that are open now, the oldest first.
    var connections: [Connection] = []
    /// Those of them whose end nobody waits for yet.
    var unattended: [Connection] = []
    var lastConnection: TransferInbox.ConnectionNumber = 0
    /// The samples of a proof were equal in this attempt: another proof does without.
    var hasEqualSamples = false
    /// The original URL was asked once more already, since a redirect's target refused.
    private var hasAskedOnceMore = false
    /// What further connections go by; nil while none may join.
    var joining: Joining?
    /// What this attempt and those before it have found out about the sources.
    var findings: SourceFindings
    /// The source that all bytes on disk are from, or are equal to; nil where nobody knows.
    private(set) var owner: Int?
    /// The host of the client's URL is not there, neither in this attempt nor in the one before.
    var homeIsGone = false
    /// Whether all that is on disk has come in one answer, or was compared with one.
    var isOfOneAnswer = false
    /// Several answers were not of one version, so that one alone has to bring all.
    var bringsInOneAnswer = false
    /// The server has sent more than it had announced.
    var distrustsSize = false
    /// How many connections have brought bytes at once, where others were not answered at all.
    var mostServed: Int?
    /// Hosts that have not answered by HTTP/1.1: first connections ask by HTTP/2 there, and where
    /// that helps, none joins them.
    var originsOfHTTP2: Set<URLReference.Origin> = []
    /// All header bytes of this attempt, redirects and trailers counted.
    var headerBytes = 0
    /// What servers have set in this attempt.
    var cookies = ServerCookies()
    /// How far the furthest host is that has answered in this attempt; nil before one has.
    var furthestHost: SocketAddress.Reach?
    /// What the user keeps for the server of the client's URL, as it was when the attempt began.
    private(set) var login: TransferRequest.Credentials?

    init(
        _ job: TransferJob,
        home: URLReference,
        engine: Engine,
        journal: any TransferJournal,
        live: LiveProgress,
        brake: Brake,
        choice: ConnectionChoice
    ) {
        self.job = job
        self.home = home
        self.engine = engine
        let ledger = Ledger(job, journal: journal)
        self.ledger = ledger
        target = TargetFile(job, home: home, engine: engine, ledger: ledger)
        verifier = Verifier(job.request, disk: engine.disk, brake: brake)
        self.live = live
        self.brake = brake
        self.choice = choice
        known = job.remote
        homeDigest = job.remote.checksum
        synced = job.segments
        stored = job.segments
        findings = engine.findings(on: job.task).made(with: home)
        sources = Sources(home: home, mirrors: job.request.mirrors)
        for mirror in findings.mirrors { sources.add(mirror) }
        if findings.areHeardAlone { sources.stopMixing() }
        if !job.segments.isEmpty { owner = findings.owner.flatMap(sources.urls.firstIndex) }
        if !job.hasFailed { findings.renewTurns() }
        findings.tags.beginAttempt()
        furthestHost = findings.reach
    }

    /// Runs to the end, whatever that is, and reports it.
    func run() async {
        var failure: Failure?
        do throws(TransferEnd) {
            // First of all: verbs wait until it is known what an earlier attempt has left.
            try await reopen()
            login = await engine.storedLogin(for: job.request, at: home)
            try await bring()
            try await publish()
            engine.forgetFindings(on: job.task)
        } catch {
            await keepWhatIsThere()
            switch error {
            case .stopped, .superseded: break
            case .held(let obstacle): failure = await stepAside(for: obstacle)
            case .failed(let reason):
                failure = await target.measuringNeed(
                    reason,
                    total: known.total,
                    keeping: stored.byteCount
                )
            }
            keepFindings(after: failure)
        }
        verifier.end()
        target.release()
        live.connections = 0
        await ledger.end(failure)
    }

    /// All bytes on disk are of this source from now on; nil where nobody knows whose they are.
    ///
    /// - Parameters:
    ///   - source: the one.
    ///   - before: how many bytes there were before it took some away; nil where it took none.
    func own(by source: Int?, after before: Int64? = nil) {
        if let before, stored.byteCount < before, owner != source, findings.areHeardAlone {
            findings.takeTurn()
        }
        owner = source
    }

    /// Asks the present source until every byte is stored.
    func fetch() async throws(TransferEnd) {
        if let total = known.total, stored.covers(total), target.part != nil { return }
        var ask = firstAsk()
        // Each answer may send the question back once or twice; a server that never stops is
        // told apart from one that gives a little with each answer.
        var fruitless = 0
        while fruitless < 6 {
            let before = stored.byteCount
            let end: ExchangeEnd
            do throws(TransferEnd) {
                end = try await exchangeWithProof(ask)
            } catch {
                guard mayForbidRanges(after: error, ask) else { throw error }
                end = .again(.whole, known.withoutRanges)
            }
            switch end {
            case .complete:
                return
            case .equal:
                fruitless += 1
            case .again(let next, let version):
                known = version
                ask = next
                fruitless += 1
            case .stored:
                guard let total = known.total, !stored.covers(total) else { return }
                fruitless = stored.byteCount > before ? 0 : fruitless + 1
                // Who brings something with each answer may take as many as it likes.
                if fruitless == 0 { headerBytes = 0 }
                ask = firstAsk()
            }
        }
        throw .failed(.badResponse("never contains the rest of the file"))
    }

    enum ExchangeEnd {
        /// The body is in the file.
        case stored
        /// Everything was there already.
        case complete
        /// The sample that was asked for is what is on disk.
        case equal
        case again(Ask, RemoteVersion)
    }

    /// One question and its answer, redirects followed.
    func exchange(_ ask: Ask) async throws(TransferEnd) -> ExchangeEnd {
        var hop = firstHop
        for count in 0...Hop.limit {
            let end: RequestEnd
            do throws(TransferEnd) {
                end = try await request(ask, at: hop)
            } catch {
                guard count > 0, mayAskOnceMore(after: error) else { throw error }
                hasAskedOnceMore = true
                return try await exchange(ask)
            }
            switch end {
            case .ended(let end):
                return end
            case .redirected(let location, let host):
                do throws(Failure) {
                    hop = try hop.following(location, from: host)
                } catch {
                    throw .failed(error)
                }
            }
        }
        throw .failed(
            Failure(
                .serverTooManyRedirects,
                "The server redirects more than \(Hop.limit) times in a row. Check the URL, or"
                    + " \(Failure.freshLink)"
            )
        )
    }

    /// Whether the original URL may well lead elsewhere by now: links that redirects give expire
    /// in mid-task.
    private func mayAskOnceMore(after end: TransferEnd) -> Bool {
        guard case .failed(let failure) = end, !stored.isEmpty, !hasAskedOnceMore else {
            return false
        }
        return failure.code.tellsOfAnExpiredLink
    }

    /// Whether the file may be had as a whole where a part of it is forbidden.
    ///
    /// There are hosts that let nobody ask for ranges. Where other sources are left, they are better.
    private func mayForbidRanges(after end: TransferEnd, _ ask: Ask) -> Bool {
        guard case .failed(let failure) = end, ask.isPartial, !hasAskedOnceMore else {
            return false
        }
        return failure == .status(403) && sources.urls.count == 1
    }
}
