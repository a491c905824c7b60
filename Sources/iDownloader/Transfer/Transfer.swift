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

    /// What it knows of the file and of the sources, and decides by that.
    var fetch: Fetch {
        didSet {
            let (before, now) = (oldValue.content, fetch.content)
            live.total = now.known.total
            guard now.stored != before.stored else { return }
            live.store(now.stored)
            if now.size < before.size { verifier.restart() }
        }
    }
    /// Those that are open now, the oldest first.
    var connections: [Connection] = []
    /// Those of them whose end nobody waits for yet.
    var unattended: [Connection] = []
    var lastConnection: TransferInbox.ConnectionNumber = 0
    /// The original URL was asked once more already, since a redirect's target refused.
    private var hasAskedOnceMore = false
    /// What further connections go by; nil while none may join.
    var joining: Joining?
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
        let findings = engine.findings(on: job.task)
        fetch = Fetch(
            job.request,
            home: home.text,
            // What the client gave was judged when the task was added.
            mirrors: job.request.mirrors.compactMap { (try? URLReference($0))?.text },
            known: job.remote,
            segments: job.segments,
            memory: findings.fetch,
            hasFailed: job.hasFailed
        )
        // What the client's URL before this one has led to says nothing of it.
        furthestHost = fetch.sources.isOfAnother(findings.fetch.sources) ? nil : findings.reach
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
                    total: content.known.total,
                    keeping: content.stored.byteCount
                )
            }
            keepFindings(after: brake.isPulled ? nil : failure)
        }
        verifier.end()
        target.release()
        live.connections = 0
        await ledger.end(failure)
    }

    /// What is on disk.
    var content: Content { fetch.content }

    /// Has the next attempt know what this one has found out.
    private func keepFindings(after failure: Failure?) {
        let findings = Engine.Findings(fetch: fetch.memory(after: failure), reach: furthestHost)
        engine.keep(findings, on: job.task)
    }

    /// Asks the present source until every byte is stored.
    func fetchAll() async throws(TransferEnd) {
        if content.isComplete, target.part != nil { return }
        var ask = fetch.firstAsk
        // Each answer may send the question back once or twice; a server that never stops is
        // told apart from one that gives a little with each answer.
        var fruitless = 0
        while fruitless < 6 {
            let before = content.stored.byteCount
            let end: ExchangeEnd
            do throws(TransferEnd) {
                end = try await exchangeWithProof(ask)
            } catch {
                guard mayForbidRanges(after: error, ask) else { throw error }
                end = .again(.whole, content.known.withoutRanges)
            }
            switch end {
            case .complete:
                return
            case .equal:
                fruitless += 1
            case .again(let next, let version):
                fetch.content.know(version)
                ask = next
                fruitless += 1
            case .stored:
                guard content.known.total != nil, !content.isComplete else { return }
                fruitless = content.stored.byteCount > before ? 0 : fruitless + 1
                // Who brings something with each answer may take as many as it likes.
                if fruitless == 0 { headerBytes = 0 }
                ask = fetch.firstAsk
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
        guard case .failed(let failure) = end, !content.stored.isEmpty, !hasAskedOnceMore else {
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
        return failure == .status(403) && fetch.sources.urls.count == 1
    }
}
