// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

/// Runs one attempt to download a task's file: requests, judges, stores and publishes.
///
/// Each step on which others rely is committed to the list before the next step. ``Fetch`` makes
/// the decisions; this actor carries them out one at a time.
actor Transfer {
    private let attempt: Attempt
    private let storage: Storage

    init(_ attempt: Attempt) {
        self.attempt = attempt
        storage = Storage(attempt)
    }

    private var engine: Engine { attempt.engine }
    private var target: TargetFile { attempt.target }
    private var controls: Controls { attempt.controls }
    private var content: Content { attempt.fetch.content }
    /// The host of the last request, redirects included; nil before the first.
    private var lastHost: Origin?
    /// How far open connections use up what the last host allows.
    private var load: HostLimits.Load { lastHost.map(engine.hosts.load) ?? .none }

    /// Runs the attempt to its end and reports how it ended.
    func run() async {
        var failure: Failure?
        do throws(TransferEnd) {
            // This comes first because verbs wait until the files of an earlier attempt are known.
            try await reopen()
            attempt.tell(
                .started,
                [
                    "attempt": .number(Int64(attempt.job.id.attempt.rawValue)),
                    "bytes": .number(content.stored.byteCount),
                    "total": content.known.total.map { .number($0) },
                    "cookies": attempt.lacksCookieFile ? .text("missing") : nil,
                ]
            )
            await attempt.lookForLogin()
            try await download()
            try await publish()
            engine.forgetFindings(on: attempt.job.task)
        } catch {
            await storage.keepWhatIsThere()
            switch error {
            case .stopped: attempt.tell(.stopped)
            case .held(let obstacle): failure = await recordHold(by: obstacle)
            case .failed(let reason):
                failure = await target.measuringNeed(
                    await engine.judged(reason, of: attempt),
                    total: content.known.total,
                    keeping: content.stored.byteCount
                )
            }
            if let failure {
                attempt.tell(
                    .failed,
                    [
                        "error": .text(failure.code.rawValue),
                        "message": .text(failure.message(for: attempt.job.task)),
                    ]
                )
            }
            attempt.keepFindings(after: controls.isStopped ? nil : failure)
            if attempt.isAnswered { failure?.isAfterAnswer = true }
        }
        attempt.verifier.end()
        target.release()
        // This comes before the owner hears of the end, because it may then start the task's next
        // attempt.
        engine.rates.leave(attempt.job.task)
        await attempt.ledger.end(failure)
    }

    /// Opens the file of an earlier attempt and checks how much of it counts.
    private func reopen() async throws(TransferEnd) {
        guard let file = attempt.job.record.file else {
            // No server is asked a second time for what has no folder.
            if attempt.job.record.tries > 0 { try await target.expectFolder() }
            return
        }
        let size = try await target.reopen()
        if let size, target.isPublished { return attempt.fetch.content.isWhole(size: size) }
        if let size {
            attempt.fetch.content.foundPart(size: size)
        } else {
            attempt.fetch.content.forget()
        }
        if let byteCount = target.part?.copiedByteCount {
            let claimed = attempt.job.record.segments
            // A copy made at another time than the record may lack bytes anywhere.
            let isOfRecord = byteCount == claimed.byteCount && content.stored == claimed
            attempt.fetch.content.isCopy()
            if !isOfRecord || attempt.job.possibleName != nil { attempt.fetch.content.forget() }
        }
        // From here on the file may change, so the recorded intent to publish it must go. If the
        // file is gone, calls that wait for the outcome of that publication need not wait for the
        // server.
        if attempt.job.possibleName != nil {
            try await attempt.ledger.commit(
                .opened(target.file ?? file, content.known, keeping: content.synced)
            )
        }
        // If the size is known, a lack of space shows without a request.
        if let total = content.known.total {
            try await target.checkSpace(for: total, keeping: content.stored.byteCount)
        }
    }

    /// Records that the attempt ends because of a hold.
    ///
    /// - Returns: the failure to report if the hold could not be recorded; nil otherwise.
    private func recordHold(by obstacle: Obstacle) async -> Failure? {
        do throws(TransferEnd) {
            try await attempt.ledger.commit(.held(by: obstacle))
            attempt.tell(.stopped, ["why": .text(obstacle.name)])
            return nil
        } catch {
            guard case .failed(let failure) = error else { return nil }
            return failure
        }
    }

    // MARK: The sources

    /// Downloads a file that matches its digests, from one source after another.
    ///
    /// - Throws: the reason why no source has the file.
    private func download() async throws(TransferEnd) {
        if target.isPublished { return }
        attempt.fetch.begin()
        while true {
            let before = content
            guard let (outcome, bad) = try await downloadFromSource() else { return }
            let next = attempt.fetch.next(
                after: outcome,
                before: before,
                load: load,
                at: engine.hosts.now
            )
            switch next {
            case .ask(let isAnew):
                attempt.tell(
                    .source,
                    [
                        "source": .number(Int64(attempt.fetch.sources.position)),
                        "why": .text(outcome.name),
                        "anew": isAnew ? .flag(true) : nil,
                    ]
                )
                try await giveUp(bad)
            case .end(let end, _): try await conclude(end)
            }
        }
    }

    /// Downloads the file from the present source and checks it.
    ///
    /// - Returns: nil once the file is right; else how it went with the source, and the pieces whose
    ///   hashes do not match, if only these have to be fetched again.
    /// - Throws: an end of the attempt that no other source can avert.
    private func downloadFromSource() async throws(TransferEnd) -> (Sources.Outcome, [ByteRange])? {
        var isComplete = false
        var told: Int64?
        do throws(TransferEnd) {
            try await fetch()
            try await lookBack()
            told = content.known.total
            try await noteEnd()
            isComplete = true
            let bad = try await verify()
            guard bad.isEmpty else {
                return (.badPieces(byteCount: SegmentMap(bad).byteCount), bad)
            }
            attempt.tell(.verified, ["bytes": .number(content.size)])
            return nil
        } catch {
            guard !controls.isStopped else { throw error }
            switch error {
            case .failed(let failure) where isComplete && failure.code.spoilsContent:
                if told == nil, attempt.fetch.mayBeCut() {
                    try await note(total: nil)
                    return (.failed(.endedEarly), [])
                }
                return (.wrongFile(failure), [])
            case .failed(let failure) where failure.code.isOfSource: return (.failed(failure), [])
            case .held(.hostRests(let time)): return (.rests(time), [])
            case .failed, .held, .stopped: throw error
            }
        }
    }

    private func verify() async throws(TransferEnd) -> [ByteRange] {
        attempt.live.activity = .verifying
        let ledger = attempt.ledger
        return try await attempt.verifier.verify(
            target.part,
            size: content.size,
            as: content.known
        ) { () throws(TransferEnd) in try await ledger.pieceHashes() }
    }

    /// Records the size of a body without Content-Length before its digest is checked, so that a
    /// pause meanwhile does not lose the body.
    private func noteEnd() async throws(TransferEnd) {
        guard content.known.total == nil, attempt.fetch.hasDigest else { return }
        try await note(total: content.size)
    }

    private func note(total: Int64?) async throws(TransferEnd) {
        var version = content.known
        version.total = total
        try await attempt.note(version)
    }

    /// Ends an attempt in which every source has failed or is in back-off.
    private func conclude(_ end: TransferEnd) async throws(TransferEnd) -> Never {
        // Record the version, so that the next attempt does not continue the discarded one.
        if !end.spoilsContent, content.stored.isEmpty, content.known != attempt.ledger.version,
            let file = target.file
        {
            try await attempt.ledger.commit(.opened(file, content.known, keeping: content.stored))
        }
        throw end
    }

    /// Removes mismatched pieces from the record before they are overwritten.
    private func giveUp(_ bad: [ByteRange]) async throws(TransferEnd) {
        guard !bad.isEmpty else { return }
        attempt.fetch.content.remove(bad)
        try await attempt.ledger.commit(.checkpointed(content.synced))
    }

    // MARK: Requests

    /// Sends requests to the present source until every byte is stored.
    private func fetch() async throws(TransferEnd) {
        if content.isComplete, target.part != nil, attempt.ledger.copy == nil { return }
        var questions = Questions(attempt.fetch)
        var generator = engine.time
        while true {
            if attempt.firstHop.url.isFTP, let overlap = questions.overlap(in: attempt.fetch),
                try await repeatsBeginning(overlap)
            {
                questions.askForAll()
            }
            guard let ask = questions.next(&attempt.fetch, using: &generator) else { break }
            let answer: Questions.Answer
            do throws(TransferEnd) {
                answer = try await exchange(ask)
            } catch {
                guard load != .full, attempt.fetch.mayForbidRanges(after: error, ask) else {
                    throw error
                }
                answer = .again(.whole, content.known.withoutRanges)
            }
            if questions.take(answer, &attempt.fetch) { attempt.headerBytes = 0 }
        }
        guard questions.areAnswered else {
            throw .failed(
                questions.endedEarly
                    ? .endedEarly : .badResponse("never contains the rest of the file")
            )
        }
    }

    /// Whether the bytes in a range equal those at the beginning of the file.
    ///
    /// A comparison with them would prove nothing, because an FTP server may ignore REST and send
    /// the file from its first byte.
    private func repeatsBeginning(_ range: ByteRange) async throws(TransferEnd) -> Bool {
        guard let part = target.part else { return false }
        return try await target.disk { () throws(FileError) in
            try part.bytes(from: range.first, to: range.end)
                == part.bytes(from: 0, to: range.length)
        }
    }

    /// Sends one request, follows redirects and returns the answer.
    private func exchange(_ ask: Ask) async throws(TransferEnd) -> Questions.Answer {
        var hop = attempt.firstHop
        for count in 0...Requests.mostRedirects {
            let end: Conversation.End
            do throws(TransferEnd) {
                end = try await request(ask, at: hop)
            } catch {
                guard count > 0, !attempt.holdsAnswer, attempt.fetch.asksOnceMore(after: error)
                else { throw error }
                return try await exchange(ask)
            }
            switch end {
            case .answered(let answer): return answer
            case .repeated: continue
            case .redirected(let location, let host):
                do throws(Failure) {
                    hop = try hop.following(location, from: host)
                } catch {
                    throw .failed(error)
                }
            }
        }
        let text =
            "The server redirects more than \(Requests.mostRedirects) times in a row. Check the URL, or"
            + " \(Failure.freshLink)"
        throw .failed(Failure(.serverTooManyRedirects, text))
    }

    private func request(_ ask: Ask, at hop: Hop) async throws(TransferEnd) -> Conversation.End {
        guard !controls.isStopped else { throw .stopped }
        // A host in back-off gets no request, even if a redirect leads to it.
        func rest() -> TransferEnd? {
            engine.hosts.rest(of: hop.origin, for: attempt.job.task)
                .map { .held(.hostRests(for: $0)) }
        }
        if let end = rest() { throw end }
        attempt.live.activity = .connecting
        lastHost = hop.origin
        guard await engine.hosts.enter(hop.origin, controls) else { throw .stopped }
        // It may have asked for one while this request waited for its turn.
        if let end = rest() {
            engine.hosts.closed(hop.origin, of: controls, wasServed: false, wasRefused: false)
            throw end
        }
        return try await Conversation(attempt, storage).request(ask, at: hop)
    }

    // MARK: Several answers by FTP

    /// Makes sure that a file from several answers is of one version.
    ///
    /// Answers by FTP or SFTP do not identify the version of their bytes. The date is requested
    /// before or after the file is opened, and the file may be replaced in between. So the server
    /// is asked again after the last byte. If the versions differ, the file is fetched again in one
    /// answer. With a digest this check is not needed.
    private func lookBack() async throws(TransferEnd) {
        guard !content.isOfOneAnswer, !attempt.fetch.hasDigest, !attempt.firstHop.url.isHTTP,
            try await !isStillThere()
        else { return }
        attempt.fetch.fetchInOneAnswer()
        try await fetch()
    }

    /// Whether the server still has the same file, by its date, length, first and last bytes.
    ///
    /// The lead connection brought the first bytes, so a file that was replaced later has others.
    /// If the server refuses the request, the file counts as unchanged.
    private func isStillThere() async throws(TransferEnd) -> Bool {
        guard let total = content.known.total,
            let ending = ByteRange(from: max(0, total - OverlapProof.sample), to: total),
            let beginning = ByteRange(from: 0, to: min(total, OverlapProof.sample))
        else { return true }
        for ask in [Ask.ending(ending), .sample(beginning)] {
            do throws(TransferEnd) {
                guard case .equal = try await exchange(ask) else { return false }
            } catch {
                guard case .failed(let failure) = error, !failure.isTransient, !controls.isStopped
                else { throw error }
            }
        }
        return true
    }

    // MARK: The finished file

    /// Publishes the complete file: syncs it, records the intent, renames it, syncs again, records
    /// the end.
    private func publish() async throws(TransferEnd) {
        guard !controls.isStopped else { throw .stopped }
        guard let file = target.file else { throw .failed(FileError.vanished.failure) }
        attempt.live.activity = .verifying
        let (ledger, size) = (attempt.ledger, content.size)
        let integrity = attempt.job.request.provenIntegrity(of: content.known)
        if target.isPublished {
            return try await ledger.commit(.completed(name: file.name, size: size, integrity))
        }
        if let total = content.known.total, total != size {
            throw .failed(.transient(.serverTruncated, "Only \(size) of \(total) bytes arrived."))
        }
        // All bytes of the copy were compared, so the record now names it.
        if let copy = ledger.copy {
            try await ledger.commit(.opened(copy, content.known, keeping: content.synced))
        }
        try await addListedFiles()
        let hasArrived = target.isUnnamed
        if !hasArrived {
            let (target, version) = (target, content.known)
            try await storage.synchronize { part throws(TransferEnd) in
                try await target.complete(part, of: version, size: size)
            }
        }
        do throws(TransferEnd) {
            let (name, newFolder) = try await target.publish(content.known)
            try await ledger.commit(
                .completed(name: name, size: size, integrity, movedTo: newFolder)
            )
        } catch {
            // A file without a name is gone once it is closed.
            if hasArrived, target.part == nil { attempt.fetch.content.forget() }
            throw error
        }
    }

    /// Adds the files that a complete metalink lists as tasks; does nothing for other files.
    ///
    /// This runs before the metalink is published, because a crash in between could otherwise lose
    /// the files. After a crash the next attempt adds the files again, and finds the tasks that
    /// exist.
    ///
    /// A listed metalink is not added, because two that list each other would never end. All listed
    /// files have a name, so for a file with a given name only the name decides whether it is a
    /// metalink.
    ///
    /// - Throws: `Server.BadResponse` if the document is no metalink or lists no file that may be
    ///   added, because the user wants the listed files.
    private func addListedFiles() async throws(TransferEnd) {
        let request = attempt.job.request
        let mimeType = request.fileName == nil ? content.known.mimeType : ""
        guard let part = target.part, let file = target.file,
            Metalink.isMeant(mimeType: mimeType, name: file.name)
        else { return }
        let (size, schemes) = (content.size, Attempt.schemes)
        let result = try await target.disk {
            () throws(FileError) -> Result<Metalink, MetalinkFault> in
            guard size <= Metalink.longestDocument else {
                return .failure(MetalinkFault("is longer than \(Metalink.longestDocument) bytes"))
            }
            let document = try part.bytes(from: 0, to: size)
            return Result { () throws(MetalinkFault) in try Metalink(document, schemes: schemes) }
        }
        let metalink: Metalink
        switch result {
        case .success(let read): metalink = read
        case .failure(let fault):
            attempt.fetch.content.giveUp()
            throw .failed(.badResponse("is a metalink that \(fault.message)"))
        }
        let listed = metalink.files.compactMap { file in
            var file = file
            file.urls = file.urls.filter { mayBeListed($0) }
            let listed = ListedFile(
                file,
                of: request,
                at: attempt.home,
                reach: attempt.furthestHost
            )
            let isMetalink = Metalink.isMeant(mimeType: "", name: listed.request.fileName ?? "")
            return file.urls.isEmpty || isMetalink ? nil : listed
        }
        guard !listed.isEmpty else {
            attempt.fetch.content.giveUp()
            throw .failed(
                .badResponse(
                    "is a metalink that lists nothing that idown may download:"
                        + " only other metalinks, or files on this machine or its network"
                )
            )
        }
        let all = metalink.files.count + metalink.leftOut.count
        try await attempt.ledger.add(listed, leavingOut: all - listed.count)
    }

    /// Whether a listed URL leads at least as far away as the hosts that served the metalink.
    ///
    /// A remote site must not send idown to this computer or its network. A host name is checked
    /// after its lookup: on connecting, its address is compared with the task's `metalinkReach`.
    private func mayBeListed(_ url: String) -> Bool {
        guard let furthest = attempt.furthestHost, let url = try? URLReference(url) else {
            return true
        }
        return Hop(url: url, home: attempt.home, reach: nil).apparentReach >= furthest
    }
}

extension TaskRequest {
    /// The reach of the host that listed the file in a metalink; nil if no other computer did.
    var listingReach: SocketAddress.Reach? {
        metalinkReach.map { SocketAddress.Reach(rawValue: $0) ?? .beyond }
    }
}
