// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

/// One attempt to bring a task's file: asks, judges, stores, and publishes.
///
/// Every step that others rely on is committed to the journal before the next one is taken. What is
/// decided stands in ``Fetch``; here it is carried out, one step after the other.
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
    /// Who was asked last, redirects followed.
    private var lastHost: Origin?
    /// Whether others have as many connections there as it was seen to allow.
    private var isCrowded: Bool { lastHost.map(engine.hosts.isAtLimit) ?? false }

    /// Runs to the end, whatever that is, and reports it.
    func run() async {
        var failure: Failure?
        do throws(TransferEnd) {
            // First of all: verbs wait until it is known what an earlier attempt has left.
            try await reopen()
            attempt.tell(
                .started,
                [
                    "attempt": .number(Int64(attempt.job.attempt.rawValue)),
                    "bytes": .number(content.stored.byteCount),
                    "total": content.known.total.map { .number($0) },
                ]
            )
            await attempt.lookForLogin()
            try await bring()
            try await publish()
            engine.forgetFindings(on: attempt.job.task)
        } catch {
            await storage.keepWhatIsThere()
            switch error {
            case .stopped, .superseded: attempt.tell(.stopped)
            case .held(let obstacle): failure = await stepAside(for: obstacle)
            case .failed(let reason):
                failure = await target.measuringNeed(
                    await engine.judged(reason, of: attempt.job.request, at: attempt.home),
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
        // Before the owner hears of the end, which may start the task's next transfer at once.
        engine.rates.leave(attempt.job.task)
        await attempt.ledger.end(failure)
    }

    /// Looks at what an earlier attempt has left.
    private func reopen() async throws(TransferEnd) {
        let file = attempt.job.file
        switch try await target.reopen() {
        case .nothing:
            guard file != nil else { return }
            attempt.fetch.content.forget()
        case .published(let size):
            return attempt.fetch.content.isWhole(size: size)
        case .partial(let size):
            attempt.fetch.content.foundPart(size: size)
        case .copy(let size, let byteCount):
            attempt.fetch.content.foundPart(size: size)
            let claimed = attempt.job.segments
            // A copy of another moment than the record's may lack bytes anywhere.
            let isOfRecord = byteCount == claimed.byteCount && content.stored == claimed
            attempt.fetch.content.isCopy()
            if !isOfRecord || attempt.job.possibleName != nil { attempt.fetch.content.forget() }
        }
        // It may be changed from here on, so that nobody may publish it as it is; and where it is
        // gone, whoever waits to hear whether it has its name need not wait for the server.
        if let file = target.file ?? file, attempt.job.possibleName != nil {
            try await attempt.ledger.commit(
                .opened(file, content.known, keeping: content.synced)
            )
        }
        // Known beforehand, it need not cost a request.
        if let total = content.known.total {
            try await target.checkSpace(for: total, keeping: content.stored.byteCount)
        }
    }

    /// Has it recorded that this attempt steps aside.
    ///
    /// - Returns: the failure to report instead where it could not be recorded.
    private func stepAside(for obstacle: Obstacle) async -> Failure? {
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

    /// Brings a file that fits its digests, from whatever source has it.
    ///
    /// - Throws: why no source has it.
    private func bring() async throws(TransferEnd) {
        if target.isPublished { return }
        attempt.fetch.begin()
        while true {
            let before = content
            let outcome: Sources.Outcome
            var bad: [ByteRange] = []
            switch await bringFromSource() {
            case .file: return
            case .badPieces(let pieces): (outcome, bad) = (.badPieces, pieces)
            case .wrongFile(let failure): outcome = .wrongFile(failure)
            case .end(.failed(let failure)) where failure.code.isOfSource && !controls.isStopped:
                outcome = .failed(failure)
            case .end(.held(.hostRests(let time))) where !controls.isStopped: outcome = .rests(time)
            case .end(let end): throw end
            }
            let next = attempt.fetch.next(
                after: outcome,
                before: before,
                isCrowded: isCrowded,
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
            guard bad.isEmpty else { return .badPieces(bad) }
            attempt.tell(.verified, ["bytes": .number(content.size)])
            return .file
        } catch {
            guard isComplete, !controls.isStopped, case .failed(let failure) = error,
                failure.code.spoilsContent
            else { return .end(error) }
            return .wrongFile(failure)
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

    /// A body without a length has ended, and is held against its digest now: a pause meanwhile
    /// must not cost it.
    private func noteEnd() async throws(TransferEnd) {
        guard content.known.total == nil, attempt.fetch.hasDigest else { return }
        var version = content.known
        version.total = content.size
        try await attempt.note(version)
    }

    /// Ends an attempt in which every source has failed, or wants to be left alone.
    private func conclude(_ end: TransferEnd) async throws(TransferEnd) -> Never {
        // The next attempt is not to take what was given up for a version of the file.
        if !end.spoilsContent, content.stored.isEmpty, content.known != attempt.ledger.version,
            let file = target.file
        {
            try await attempt.ledger.commit(
                .opened(file, content.known, keeping: content.stored)
            )
        }
        throw end
    }

    /// The record gives up what does not fit before it is overwritten.
    private func giveUp(_ bad: [ByteRange]) async throws(TransferEnd) {
        guard !bad.isEmpty else { return }
        attempt.fetch.content.remove(bad)
        try await attempt.ledger.commit(.checkpointed(content.synced))
    }

    // MARK: Questions

    /// Asks the present source until every byte is stored.
    private func fetch() async throws(TransferEnd) {
        let ledger = attempt.ledger
        if content.isComplete, target.part != nil, ledger.copy == nil { return }
        var questions = Questions(attempt.fetch, isOfCopy: ledger.copy != nil)
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
                guard !isCrowded, attempt.fetch.mayForbidRanges(after: error, ask) else {
                    throw error
                }
                answer = .again(.whole, content.known.withoutRanges)
            }
            let isOfCopy = ledger.copy != nil
            if questions.take(answer, &attempt.fetch, isOfCopy: isOfCopy) {
                attempt.headerBytes = 0
            }
        }
        guard questions.areAnswered else {
            throw .failed(
                questions.endedEarly
                    ? .endedEarly : .badResponse("never contains the rest of the file")
            )
        }
    }

    /// Whether bytes on disk are those that the file begins with, so that to compare them would
    /// prove nothing: an FTP server may ignore REST and send the file from its first byte.
    private func repeatsBeginning(_ range: ByteRange) async throws(TransferEnd) -> Bool {
        guard let part = target.part else { return false }
        return try await target.disk { () throws(FileError) in
            try part.bytes(from: range.first, to: range.end)
                == part.bytes(from: 0, to: range.length)
        }
    }

    /// One question and its answer, redirects followed.
    private func exchange(_ ask: Ask) async throws(TransferEnd) -> Questions.Answer {
        var hop = attempt.firstHop
        for count in 0...Hop.limit {
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
            case .sameAgain: continue
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

    private func request(_ ask: Ask, at hop: Hop) async throws(TransferEnd) -> Conversation.End {
        guard !controls.isStopped else { throw .stopped }
        // A host that asked to be left alone is left alone, wherever a redirect leads from.
        let rest = engine.rests.remaining(of: hop.origin, for: attempt.job.task)
        if let rest { throw .held(.hostRests(for: rest)) }
        attempt.live.activity = .connecting
        lastHost = hop.origin
        guard await engine.hosts.enter(hop.origin, controls) else { throw .stopped }
        return try await Conversation(attempt, storage).request(ask, at: hop)
    }

    // MARK: Several answers by FTP

    /// Makes sure that a file that came in several answers is one version of it.
    ///
    /// No answer by FTP or SFTP says which version its bytes are of: the date is asked for before
    /// the
    /// file is opened, or after it, and whoever puts another file there in between has two of them
    /// mixed. So the server is asked again behind the last byte. Where it is not one version, one
    /// answer brings it anew. A digest would tell by itself.
    private func lookBack() async throws(TransferEnd) {
        guard !content.isOfOneAnswer, !attempt.fetch.hasDigest, !attempt.firstHop.url.isHTTP,
            try await !isStillThere()
        else { return }
        attempt.fetch.bringInOneAnswer()
        try await fetch()
    }

    /// Whether the server has the very file still, as far as its date, its length, its first and
    /// its last bytes tell.
    ///
    /// The first connection has brought the first bytes, so that a file that was replaced later on
    /// has others. A server that refuses to tell leaves it at what is known.
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

    /// Gives the complete file its name: synced, intended, renamed, synced again, recorded.
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
            throw .failed(
                Failure(
                    .serverTruncated,
                    "Only \(size) of \(total) bytes arrived. A later try may succeed.",
                    isTransient: true
                )
            )
        }
        // All its bytes were compared.
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
            // Without a name it is gone.
            if hasArrived, target.part == nil { attempt.fetch.content.forget() }
            throw error
        }
    }

    /// Where the complete file is a metalink, adds the files that it lists to the list of tasks.
    ///
    /// Runs before the metalink gets its name, because after a crash in between the files might
    /// never
    /// be added. Such a crash has the next attempt add them once more, which finds their tasks.
    ///
    /// What is listed is no metalink again: two that list each other would go on for ever. So of a
    /// file that has its name already, as all that are listed have, the name alone tells.
    ///
    /// - Throws: `Server.BadResponse` where it is none, or where nothing that it lists can be
    ///   added:
    ///   whoever asks for a metalink wants the files.
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

    /// Whether a URL leads no nearer than to where its metalink came from.
    ///
    /// A site out there has no business in sending us to this machine. A name tells nothing before
    /// it is looked up: its address is held against the task's `metalinkReach` when it is connected
    /// to.
    private func mayBeListed(_ url: String) -> Bool {
        guard let furthest = attempt.furthestHost, let url = try? URLReference(url) else {
            return true
        }
        return Hop(url: url, home: attempt.home, reach: nil).apparentReach >= furthest
    }
}

extension TaskRequest {
    /// How far the host was that listed the file in a metalink; nil where none of another computer
    /// did.
    var listingReach: SocketAddress.Reach? {
        metalinkReach.map { SocketAddress.Reach(rawValue: $0) ?? .beyond }
    }
}
