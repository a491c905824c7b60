// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

/// What all parts of one attempt share: its task, its file, and what it has found out.
///
/// Belongs to its transfer's actor.
final class Attempt {
    let engine: Engine
    let job: TransferJob
    /// The client's URL.
    let home: URLReference
    /// The record of the task, as this attempt writes it.
    let ledger: Ledger
    /// The file on its disk.
    let target: TargetFile
    /// What the file is held against.
    let verifier: Verifier
    let live: LiveProgress
    let controls: Controls

    /// What it knows of the file and of the sources, and decides by that.
    var fetch: Fetch {
        // Without `oldValue`, it is changed in place.
        didSet { showContent() }
    }
    /// What of it others have been shown.
    private var shown: SegmentMap
    /// How far the furthest host is that has answered, or that has listed the file in a metalink; nil
    /// before one has.
    private(set) var furthestHost: SocketAddress.Reach?
    /// Whether any host has answered in this attempt.
    private(set) var isAnswered = false
    /// What servers have set.
    var cookies = ServerCookies()
    /// All header bytes since the file was last seen to grow, redirects and trailers counted.
    var headerBytes = 0
    /// What the user keeps for the server of the client's URL, as it was when the attempt began.
    private(set) var login: TransferRequest.Credentials?
    /// Where the last request of each source has come to: further connections ask there.
    var hops: [Int: Hop] = [:]
    /// Whether the journal has judged the first answer, where it is to.
    private var hasReported = false

    init(
        _ job: TransferJob,
        home: URLReference,
        engine: Engine,
        journal: any TransferJournal,
        live: LiveProgress,
        controls: Controls
    ) {
        self.job = job
        self.home = home
        self.engine = engine
        ledger = Ledger(job, journal: journal)
        target = TargetFile(job, home: home, engine: engine, ledger: ledger)
        verifier = Verifier(job.request, disk: engine.disk, controls: controls)
        self.live = live
        self.controls = controls
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
        shown = fetch.content.stored
        // What the client's URL before this one has led to says nothing of it.
        let reach = fetch.sources.isOfAnother(findings.fetch.sources) ? nil : findings.reach
        furthestHost = [reach, job.request.listingReach].compactMap(\.self).max()
    }

    /// What is on disk.
    var content: Content { fetch.content }

    private func showContent() {
        live.total = fetch.content.known.total
        guard fetch.content.stored != shown else { return }
        let size = shown.prefixLength
        shown = fetch.content.stored
        live.store(shown)
        if shown.prefixLength < size { verifier.restart() }
    }

    /// Looks for the user's login for the server of the client's URL.
    func lookForLogin() async { login = await engine.storedLogin(for: job.request, at: home) }

    /// Has the next attempt know what this one has found out.
    func keepFindings(after failure: Failure?) {
        let findings = Engine.Findings(fetch: fetch.memory(after: failure), reach: furthestHost)
        engine.keep(findings, on: job.task)
    }

    /// A host has answered, which is so far.
    func noteAnswer(from reach: SocketAddress.Reach) {
        isAnswered = true
        furthestHost = max(reach, furthestHost ?? reach)
    }

    /// Records what an answer has shown of the version.
    func note(_ version: RemoteVersion) async throws(TransferEnd) {
        guard version != content.known else { return }
        fetch.content.know(version)
        guard let file = target.file, version != ledger.version else { return }
        try await ledger.commit(.opened(file, version, keeping: content.synced))
    }

    /// Whether the journal has to judge the first answer yet.
    var holdsAnswer: Bool { job.holdsFirstAnswer && !hasReported }

    /// Whether its body may have to wait, for a limit or for somebody's judgement.
    var wantsOwnConnection: Bool { holdsAnswer || engine.rates.limit(for: job.task) != nil }

    /// Has the journal judge the first answer, where the job says so.
    func report(
        _ version: RemoteVersion,
        by connection: Connection
    ) async throws(TransferEnd) {
        guard holdsAnswer else { return }
        hasReported = true
        let (head, hop) = (connection.sink.head, connection.hop)
        let answer = OfferedFile(
            status: head?.facts.status ?? 200,
            version: version,
            url: hop.url.withoutUserInfo,
            name: wantedName(head, hop).names(limit: target.nameLimit).first?.text ?? ""
        )
        try await ledger.report(answer)
    }

    // MARK: The sources as URLs

    /// The source that is asked now, as the start of a chain of redirects.
    ///
    /// A mirror may be one that a server has named: it is no way to this machine either.
    var firstHop: Hop { firstHop(to: fetch.sources.position) }

    /// A source as the start of a chain of redirects.
    ///
    /// While nobody has said how far the first connection's host is, its name counts.
    func firstHop(to source: Int) -> Hop {
        guard source != 0 else {
            return Hop(url: home, home: home, reach: job.request.listingReach)
        }
        let lead = fetch.requests.joining?.source
        let apparent = lead.flatMap { hops[$0]?.apparentReach }
        let unknown: SocketAddress.Reach? = fetch.sources.isNamed(source) ? .beyond : nil
        let reach = [furthestHost, apparent].compactMap(\.self).max() ?? unknown
        // It was read once before.
        let url = (try? URLReference(fetch.sources.urls[source])) ?? home
        return Hop(url: url, home: home, reach: reach)
    }

    /// Where a connection that joins asks a source.
    func hop(to source: Int) -> Hop { hops[source] ?? firstHop(to: source) }

    /// Takes note of the mirrors that the server of the client's URL names (RFC 6249).
    func noteMirrors(in head: ResponseHead, from connection: Connection) {
        guard connection.route.source == 0, [200, 206].contains(head.facts.status) else { return }
        for reference in DuplicateLinks.references(head.fields) {
            guard let url = try? connection.hop.url.resolving(reference),
                Self.schemes.contains(url.scheme)
            else { continue }
            fetch.sources.add(url.text)
        }
    }

    /// What mirrors that a server names, and listed files, may have: none that asks for a login.
    static let schemes: Set<String> = ["http", "https", "ftp", "ftps"]

    /// All that is known of the name that the file is to have.
    func wantedName(_ head: ResponseHead?, _ hop: Hop) -> NameWish {
        NameWish(
            option: job.request.fileName,
            contentDisposition: head?.contentDisposition,
            urlPath: hop.url.path,
            mimeType: head?.facts.mimeType ?? ""
        )
    }

    /// Whether the coding in which the file comes is the file's own, by its type or by the name
    /// that it has or is to get: the URL's path says something only where a given name does not.
    func isCompressed(_ head: ResponseHead, _ hop: Hop) -> Bool {
        guard let encoding = head.facts.contentEncoding, let codings = ContentCoding.list(encoding)
        else { return false }
        let limit = target.nameLimit
        let name =
            target.file?.name
            ?? wantedName(head, hop).names(limit: limit).first?.text
        let telling = name.flatMap { $0.contains(".") ? $0 : nil } ?? hop.url.path
        return CompressedFile.isMeant(by: codings, mimeType: head.facts.mimeType, name: telling)
    }
}

// MARK: - The history

extension Attempt {
    /// Has the history tell what happens.
    func tell(
        _ what: History.What,
        of connection: Int = 0,
        _ details: [String: History.Detail?] = [:]
    ) {
        let entry = History.Entry(
            what,
            connection: connection,
            details.compactMapValues(\.self),
            at: engine.time.date
        )
        engine.note(entry, of: job.task)
    }

    func tellRequest(of connection: Connection) {
        let ask = connection.route.ask
        tell(
            .asked,
            of: connection.number,
            [
                "host": .text(connection.hop.url.host),
                "first": .number(ask.offset),
                "length": ask.end.map { .number($0 - ask.offset) },
                "why": .text(connection.route.role.name),
            ]
        )
    }

    func tell(_ judgement: Judgement, on head: ResponseHead, of connection: Connection) {
        tell(
            .answered,
            of: connection.number,
            [
                "status": .number(Int64(head.facts.status)),
                "decision": .text(judgement.name),
                "error": judgement.failure.map { .text($0.code.rawValue) },
            ]
        )
    }

    func tellEnd(of connection: Connection, _ outcome: TransferOutcome) {
        let isCut = fetch.requests[connection.number]?.isCut == true
        let hasFailed = outcome.result != .ok && !isCut && !connection.isSated
        let failure = hasFailed ? Failure(outcome, hadBody: connection.isServed) : nil
        tell(
            .ended,
            of: connection.number,
            [
                "bytes": .number(connection.writer.map { $0.position - $0.start } ?? 0),
                "error": failure.map { .text($0.code.rawValue) },
                "cut": isCut ? .flag(true) : nil,
            ]
        )
    }
}
