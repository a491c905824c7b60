// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

/// The state that all parts of one attempt share: the task, the file and the attempt's findings.
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
    /// Checks the file against its size and digests.
    let verifier: Verifier
    let live: LiveProgress
    let controls: Controls

    /// The pure state that decides: the file and the sources, as far as this attempt knows them.
    var fetch: Fetch {
        // Without `oldValue`, Swift changes the value in place.
        didSet { showContent() }
    }
    /// The stored ranges that ``live`` shows at the moment.
    private var shown: SegmentMap
    /// The reach of the furthest host that has answered, or that has listed the file in a metalink;
    /// nil before one has.
    private(set) var furthestHost: SocketAddress.Reach?
    /// Whether any host has answered in this attempt.
    private(set) var isAnswered = false
    /// The cookies that servers have set in this attempt.
    var cookies = ServerCookies()
    /// The header bytes received since the file last grew; redirects and trailers count.
    var headerBytes = 0
    /// The user's stored login for the server of the task's URL, read when the attempt began.
    private(set) var login: TransferRequest.Credentials?
    /// The hop that answered for each source, after redirects; further connections ask there.
    var hops: [Int: Hop] = [:]
    /// Whether the journal has judged the first answer.
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
        verifier = Verifier(job.request, disk: engine.disk) { !controls.isStopped }
        self.live = live
        self.controls = controls
        let findings = engine.findings(on: job.record)
        fetch = Fetch(
            job.request,
            home: home.text,
            // The service checked these URLs when the task was added.
            mirrors: job.request.mirrors.compactMap { (try? URLReference($0))?.text },
            known: job.record.remote,
            segments: job.record.segments,
            memory: findings,
            hasFailed: job.hasFailed
        )
        shown = fetch.content.stored
        live.store(shown)
        // Findings about an earlier URL of the task do not count for this one.
        let isOfAnother = fetch.sources.isOfAnother(findings.sources)
        let reach = findings.reach.flatMap { isOfAnother ? nil : SocketAddress.Reach(rawValue: $0) }
        furthestHost = [reach, job.request.listingReach].compactMap(\.self).max()
    }

    /// The file as far as it is known and stored.
    var content: Content { fetch.content }

    private func showContent() {
        live.total = fetch.content.known.total
        guard fetch.content.stored != shown else { return }
        let size = shown.prefixLength
        shown = fetch.content.stored
        live.store(shown)
        if shown.prefixLength < size { verifier.restart() }
    }

    /// Looks for the user's login for the server of the client's URL; a login in the URL goes first.
    func lookForLogin() async {
        guard job.request.usesStoredLogins, home.user == nil else { return }
        login = await engine.logins?.login(for: home.origin)
    }

    /// Whether the task's server would get cookies of the user's file, which could not be read.
    var lacksCookieFile: Bool {
        let request = job.request
        let hasOwn =
            request.cookies != nil
            || request.headers.contains { $0.name.lowercased() == "cookie" }
        return home.isHTTP && request.usesStoredLogins && !hasOwn && engine.network.lacksCookieFile
    }

    /// Keeps the findings of this attempt for the next one.
    func keepFindings(after failure: Failure?) {
        var findings = fetch.memory(after: failure)
        findings.reach = furthestHost?.rawValue
        engine.keep(findings, on: job.task)
    }

    /// Notes that a host at this reach has answered.
    func noteAnswer(from reach: SocketAddress.Reach) {
        isAnswered = true
        furthestHost = max(reach, furthestHost ?? reach)
    }

    /// Records a version that an answer has shown, if it differs from the recorded one.
    func note(_ version: RemoteVersion) async throws(TransferEnd) {
        guard version != content.known else { return }
        fetch.content.know(version)
        guard let file = target.file, version != ledger.version else { return }
        try await ledger.commit(.opened(file, version, keeping: content.synced))
    }

    /// Whether the journal still has to judge the first answer.
    var holdsAnswer: Bool { job.holdsFirstAnswer && !hasReported }

    /// Whether a body may have to wait, for a rate limit or for the journal's judgement.
    var wantsOwnConnection: Bool { holdsAnswer || engine.rates.limit(for: job.task) != nil }

    /// Lets the journal judge the first answer, if the job asks for that.
    func report(_ version: RemoteVersion, by connection: Connection) async throws(TransferEnd) {
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

    /// Returns the first hop to the present source; redirects may follow.
    ///
    /// A server may have named a mirror: the limits on reach keep that mirror from leading to this
    /// computer.
    var firstHop: Hop { firstHop(to: fetch.sources.position) }

    /// Returns the first hop to a source; redirects may follow.
    ///
    /// Before the lead connection's address is known, the reach that its host name suggests counts.
    func firstHop(to source: Int) -> Hop {
        guard source != 0 else {
            return Hop(url: home, home: home, reach: job.request.listingReach)
        }
        let lead = fetch.requests.joining?.source
        let apparent = lead.flatMap { hops[$0]?.apparentReach }
        let unknown: SocketAddress.Reach? = fetch.sources.isNamed(source) ? .beyond : nil
        let reach = [furthestHost, apparent].compactMap(\.self).max() ?? unknown
        // The URL was parsed before, so that this does not fail.
        let url = (try? URLReference(fetch.sources.urls[source])) ?? home
        return Hop(url: url, home: home, reach: reach)
    }

    /// Returns the hop at which a joining connection asks a source.
    func hop(to source: Int) -> Hop { hops[source] ?? firstHop(to: source) }

    /// Adds the mirrors that the server of the task's URL names in Link fields (RFC 6249).
    func noteMirrors(in head: ResponseHead, from connection: Connection) {
        guard connection.route.source == 0, [200, 206].contains(head.facts.status) else { return }
        for reference in DuplicateLinks.references(head.fields) {
            guard let url = try? connection.hop.url.resolving(reference),
                Self.schemes.contains(url.scheme)
            else { continue }
            fetch.sources.add(url.text)
        }
    }

    /// The schemes that mirrors named by a server, and files listed by it, may have.
    ///
    /// None of them uses the user's keys.
    static let schemes: Set<String> = ["http", "https", "ftp", "ftps"]

    /// Returns everything that suggests a name for the file.
    func wantedName(_ head: ResponseHead?, _ hop: Hop) -> NameWish {
        NameWish(
            option: job.request.fileName,
            contentDisposition: head?.contentDisposition,
            urlPath: hop.url.path,
            mimeType: head?.facts.mimeType ?? ""
        )
    }

    /// Returns whether the Content-Encoding is the file's own compression, judged by its type or
    /// its name.
    ///
    /// The URL's path counts only if the name has no extension.
    func isCompressed(_ head: ResponseHead, _ hop: Hop) -> Bool {
        guard let encoding = head.facts.contentEncoding, let codings = ContentCoding.list(encoding)
        else { return false }
        let limit = target.nameLimit
        let name = target.file?.name ?? wantedName(head, hop).names(limit: limit).first?.text
        let telling = name.flatMap { $0.contains(".") ? $0 : nil } ?? hop.url.path
        return CompressedFile.isMeant(by: codings, mimeType: head.facts.mimeType, name: telling)
    }
}

// MARK: - The history

extension Attempt {
    /// Adds an entry to the task's history.
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

    func tell(_ request: TransferRequest, of connection: Connection) {
        let ask = connection.route.ask
        tell(
            .asked,
            of: connection.number,
            [
                "host": .text(connection.hop.url.host),
                "via": request.proxy.server.map { .text($0.authority) },
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
        let isOurEnd = controls.isStopped || fetch.requests[connection.number]?.isCut == true
        let isCut = outcome.result != .ok && isOurEnd
        let hasFailed = outcome.result != .ok && !isOurEnd && !connection.hasBroughtAll
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
