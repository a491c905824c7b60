// SPDX-License-Identifier: Apache-2.0

/// What one attempt knows of its file and of the sources, and what it decides from that.
///
/// It has no clock and touches neither disk nor network: the transfer reports what has happened and
/// carries out the decisions.
package struct Fetch: Hashable, Sendable {
    /// The head of an answer, and the request that it belongs to.
    package struct Answer: Hashable, Sendable {
        package var facts: ResponseFacts
        package var route: Requests.Route
        /// The host that answers.
        package var host: Origin
        /// The path of the URL that answers: an ETag is unique for one path only.
        package var path = ""
        /// Whether the answer came over a connection that was made to see its ETag.
        package var isForTag = false
        /// Whether neither a length nor chunks tell where the body has to end.
        package var isOpenEnded = false
        /// Whether the file itself is compressed: its Content-Encoding then belongs to the file.
        package var keepsEncoding = false
        /// Whether the host is known to give one unchanged file several ETags.
        package var hostGivesSeveralTags = false

        /// The codings to remove from the body, in the order in which they were applied.
        package var codings: [ContentCoding] { facts.codings(keepsEncoding: keepsEncoding) }

        /// The source whose URL was asked first; redirects may have led to another host.
        var source: Int { route.source }

        /// Whether the answer came over the lead connection.
        var isLead: Bool { route.role == .lead }

        package init(_ facts: ResponseFacts, on route: Requests.Route, at host: Origin) {
            self.facts = facts
            self.route = route
            self.host = host
        }
    }

    /// What the next attempt has to know; it is kept only while the service runs.
    package struct Memory: Hashable, Sendable {
        package fileprivate(set) var sources = Sources.Memory()
        /// What the ETags of the answers show.
        fileprivate var tags = TagEvidence()
        /// Where the recorded validators come from; nil where that is unknown.
        fileprivate var validators: ValidatorOrigin?
        /// Where answers broke off.
        fileprivate var shortEnd = ShortEnd()
        /// Where wrong files ended that may have been cut.
        fileprivate var openEnd = ShortEnd()
        /// The lengths of short answers that may be the message of a script that has failed.
        fileprivate var shortAnswer = ShortEnd()
        fileprivate var versions = Versions()
        fileprivate var followUp = FollowUp()
        /// Whether one answer was to bring the file already, because of a wrong digest.
        fileprivate var hasDoubtedMix = false
        /// The reach of the furthest host that has answered, as `SocketAddress.Reach` numbers it;
        /// no host that it names may be nearer.
        package var reach: Int?

        package init() {}

        /// After about half an hour of empty pages the link has expired.
        private static let mostEmptyPages: UInt32 = 20

        /// Forgets what another link has shown, and what spoke against earlier answers where the user
        /// asks anew.
        fileprivate mutating func begin(isOfAnother: Bool, hasFailed: Bool) {
            if isOfAnother {
                (tags, versions, shortAnswer) = (TagEvidence(), Versions(), ShortEnd())
            }
            guard isOfAnother || !hasFailed else { return }
            (shortEnd, openEnd, hasDoubtedMix) = (ShortEnd(), ShortEnd(), false)
            followUp = FollowUp()
        }

        /// Returns a judgement of the lead's answer that may be the message of a script that has
        /// failed: it is shorter than the file, and has no validator.
        ///
        /// Several of the same length are the file; several empty pages, an expired link.
        fileprivate mutating func doubted(
            _ judgement: Judgement,
            _ facts: ResponseFacts,
            _ content: Content
        ) -> Judgement {
            let known = content.known
            switch judgement {
            case .begin(let version):
                guard let total = version.total, !content.stored.isEmpty,
                    version.entityTag == nil, version.lastModified == nil,
                    total < max(known.total ?? 0, content.stored.end)
                else { return judgement }
                let isKnown = known.entityTag != nil || known.lastModified != nil
                let most = isKnown && !known.needsProof ? ShortEnd.most : 2
                guard shortAnswer.count(of: total) < most, !shortAnswer.isFrequent else {
                    return judgement
                }
                let text = "The server sent something shorter in place of the file."
                return .fail(.transient(.serverTruncated, text))
            case .fail(let failure) where failure.code == .serverTruncated:
                guard facts.standsInForFile(of: known, onDisk: content.stored),
                    shortAnswer.count(of: 0) >= Self.mostEmptyPages
                else { return judgement }
                return .fail(.linkExpired)
            case .resume, .compare, .prove, .check, .complete: shortAnswer = ShortEnd()
            case .askAgain, .redirect, .fail: break
            }
            return judgement
        }

        /// Makes the memory of a task whose bytes an earlier run of the service has brought: its host
        /// counts as one that has served it until `now`.
        package init(servedUntil now: Duration) { sources = Sources.Memory(servedUntil: now) }

        /// Whether the next attempt would act differently without it.
        package var changesNextAttempt: Bool {
            sources.changesNextAttempt || validators != nil || tags.givenUp > 0
                || [shortEnd, openEnd, shortAnswer].contains { $0 != ShortEnd() }
                || !versions.givenUp.isEmpty || followUp != FollowUp() || hasDoubtedMix
        }
    }

    /// The versions whose stored bytes a task has given up.
    ///
    /// A version that comes back after another one shows a host of several nodes that do not agree.
    fileprivate struct Versions: Hashable, Sendable {
        fileprivate struct Validators: Hashable, Sendable {
            let tag: EntityTag?
            let date: String?

            init(_ version: RemoteVersion) {
                (tag, date) = (version.entityTag, version.lastModified?.field)
            }
        }

        /// The most versions that are remembered.
        private static let most = 16
        private(set) var givenUp: Set<Validators> = []
        private(set) var alternate = false

        mutating func begin(_ new: RemoteVersion, givingUp old: RemoteVersion) {
            if givenUp.count < Self.most { givenUp.insert(Validators(old)) }
            if givenUp.contains(Validators(new)), Validators(new) != Validators(old) {
                alternate = true
            }
        }
    }

    /// A source, and the place that answered for it, which a redirect may have chosen.
    ///
    /// The query is no part of it, because links for one file often differ in a token there.
    fileprivate struct ValidatorOrigin: Hashable, Sendable {
        let source: String
        let host: Origin
        let path: String
    }

    package let request: TaskRequest
    package var content: Content
    package var sources: Sources
    package var requests = Requests()
    /// What this attempt and earlier ones have learned; ``sources`` has what concerns those.
    private var learned: Memory
    /// Whether one answer has to bring the whole file, because several were not of one version.
    private(set) var needsOneAnswer = false
    /// The file that one answer has to take the place of; nil where there is none.
    private var mixture: Mixture?
    /// Whether an FTP server has sent more bytes than it announced.
    private var distrustsSize = false
    /// Whether the host of the task's URL gives several versions in turn, so that the next request
    /// may meet another one: the connection that has begun brings all of the file then.
    var hasSeveralVersions: Bool { learned.versions.alternate }
    /// How far the last answer that began at offset 0 is stored; by FTP, that of any offset.
    var wholeEnd: Int64 = 0
    /// Whether the last body looks whole wherever it ends, since nothing tells its end.
    var endsAnywhere = false

    /// - Parameters:
    ///   - request: what the client asked for.
    ///   - home: the task's own URL, in normal form.
    ///   - mirrors: the task's mirrors, in normal form.
    ///   - known: the version that the bytes on disk belong to.
    ///   - segments: the bytes on disk.
    ///   - memory: what earlier attempts have learned.
    ///   - hasFailed: whether the last attempt failed and the user has not asked for this one.
    package init(
        _ request: TaskRequest,
        home: String,
        mirrors: [String],
        known: RemoteVersion = RemoteVersion(),
        segments: SegmentMap = SegmentMap(),
        memory: Memory = Memory(),
        hasFailed: Bool = false
    ) {
        self.request = request
        sources = Sources(
            home: home,
            mirrors: mirrors,
            memory: memory.sources,
            hasFailed: hasFailed
        )
        learned = memory
        let isOfAnother = sources.isOfAnother(memory.sources)
        learned.begin(isOfAnother: isOfAnother, hasFailed: hasFailed)
        needsOneAnswer = learned.hasDoubtedMix && segments.isEmpty
        let noted = learned.followUp.noted(in: known.inNewAttempt, of: home)
        content = Content(noted, segments, owner: sources.owner(by: memory.sources))
        learned.tags.beginAttempt()
    }

    /// Returns what the next attempt has to know.
    ///
    /// - Parameter failure: why this attempt ended; nil where it was stopped.
    /// - Returns: what this attempt and earlier ones have learned.
    package mutating func memory(after failure: Failure?) -> Memory {
        let (owner, isEmpty) = (content.owner, content.stored.isEmpty)
        learned.sources = sources.memory(after: failure, owner: owner, isEmpty: isEmpty)
        learned.followUp.attemptEnded(failure)
        return learned
    }

    /// Chooses the first source, once the bytes that an earlier attempt left were looked at.
    package mutating func begin() {
        sources.begin(owner: content.stored.isEmpty ? nil : content.owner)
    }

    // MARK: What to ask

    /// Whether digests reveal a wrong byte at the end, whatever its source.
    package var hasDigest: Bool { request.hasDigest(of: content.known) }

    /// Whether an equal length is enough to accept a source's bytes, because digests reveal a wrong
    /// byte at the end.
    package func isVouchedFor(_ source: Int) -> Bool {
        hasDigest && (source != 0 || !sources.isAtHome)
    }

    /// The first request to the current source.
    ///
    /// A mirror has its own validators, which say nothing about the recorded ones.
    package var firstAsk: Ask {
        // A source that is tried alone must bring, or confirm, the bytes that other sources gave.
        if sources.areTriedAlone, !content.stored.isEmpty, content.owner != sources.position {
            return .whole
        }
        let ask = Ask.first(for: content.stored, of: content.known)
        let usual = isVouchedFor(sources.position) ? ask.unconditional : ask
        let first = learned.followUp.first(usual, of: sources.current, onDisk: content)
        // A copy of the recorded file is proven first, whatever its validators say.
        guard content.isUnprovenCopy, first.isPartial, let total = content.known.total else {
            return first
        }
        return .proof(for: content.stored, upTo: total)
    }

    /// Returns the request with which a joining connection asks a source for a range.
    package func ask(for range: ByteRange, of source: Int) -> Ask {
        // A mirror that a digest vouches for does not know the recorded validators.
        let isPlain = content.known.dislikesIfRange || isVouchedFor(source)
        return .part(range, ifRange: isPlain ? nil : content.known.strongValidator)
    }

    /// Whether new connections have to ask for parts of the file, to see which ETags they get.
    package var isAskingForTags: Bool { learned.tags.isOpen(onDisk: content.stored.byteCount) }

    // MARK: What an answer means

    /// Judges the head of an answer, and records the judgement.
    ///
    /// - Parameters:
    ///   - answer: the head.
    ///   - id: the connection over which it came.
    /// - Returns: what to do with the body.
    package mutating func judge(_ answer: Answer, over id: Int) -> Judgement {
        let judgement = content.judged(judgement(of: answer))
        if answer.isLead { learned.followUp.take(judgement, from: sources.urls[answer.source]) }
        requests.judged(id, judgement, answer)
        return judgement
    }

    private mutating func judgement(of answer: Answer) -> Judgement {
        let facts = seen(answer)
        let isDecoded = !answer.codings.isEmpty
        if let refusal = refusal(of: facts, from: answer.source, isDecoded: isDecoded) {
            return .fail(refusal)
        }
        noteTag(of: facts, in: answer)
        var judgement = facts.judge(
            asked: answer.route.ask,
            known: content.known,
            onDisk: content.stored,
            otherTag: meaningOfAnotherTag(in: answer),
            // A digest of the file or its pieces reveals another host's wrong bytes.
            isOfSamePlace: hasDigest || request.hasPieceHashes || isFromValidatorPlace(answer),
            keepsEncoding: answer.keepsEncoding,
            digestTells: hasDigest && !answer.isLead
        )
        if answer.isLead { judgement = learned.doubted(judgement, facts, content) }
        guard answer.source != 0 else { return judgement }
        // A decoded body is checked against the digest from the task's own URL too.
        if isDecoded, case .begin(var version) = judgement {
            version.checksum = content.homeDigest
            return .begin(version)
        }
        return judgement.keepingRanges(of: content.known)
    }

    /// Returns the head as it is judged: a mirror that a digest vouches for is taken to have the
    /// recorded version.
    ///
    /// This excludes an answer without a length that may be a page in place of the file. A digest
    /// from the server of the task's own URL overrides a mirror's.
    private mutating func seen(_ answer: Answer) -> ResponseFacts {
        let known = content.known
        var facts = answer.facts
        facts.isFromElsewhere = !isFromHome(answer)
        if answer.source != 0 {
            facts.checksum = content.homeDigest ?? facts.checksum
            // Another host may give another date for the same file: its ETag or its bytes decide.
            if let date = known.lastModified, facts.lastModified?.field != date.field {
                facts.lastModified = nil
            }
        } else if facts.status == 200 || (facts.status == 206 && facts.checksum != nil) {
            // A digest of an encoded body, or of a page in place of the file, is not the file's. A
            // 206 may leave out the digest that an earlier answer gave.
            content.noteHomeDigest(facts.contentEncoding == nil ? facts.checksum : nil)
        }
        if needsOneAnswer, !sources.isHTTP(answer.source) {
            // Nothing joins, and no range is asked for.
            (facts.acceptsRanges, facts.refusesRanges) = (false, true)
            if distrustsSize { facts.contentLength = .unknown }
        }
        guard isVouchedFor(answer.source), known.total != nil,
            facts.contentLength.bytes != nil
                || !facts.standsInForFile(of: known, onDisk: content.stored)
        else { return facts }
        facts.entityTag = known.entityTag
        facts.lastModified = known.lastModified
        facts.checksum = known.checksum
        return facts
    }

    /// Returns why a source's answer belongs to another file, before the bytes on disk are lost to
    /// it.
    ///
    /// The server of the task's own URL may replace the file, unless there are mirrors and the file
    /// on disk has the size that the client expects.
    ///
    /// - Parameters:
    ///   - facts: the head of the answer.
    ///   - source: the source that gave it.
    ///   - isDecoded: whether a coding is removed from the body.
    /// - Returns: why the answer is of no use; nil where it may bring a part of the file.
    private mutating func refusal(
        of facts: ResponseFacts,
        from source: Int,
        isDecoded: Bool
    ) -> Failure? {
        guard !content.stored.isEmpty, let total = content.known.total else { return nil }
        let isOutvoted = sources.urls.count > 1 && total == request.expectedSize
        guard source != 0 || isOutvoted else { return nil }
        let itsTotal: Int64?
        switch facts.contentRange {
        case .satisfied(_, let total): itsTotal = total
        case .unsatisfied(let total): itsTotal = total
        case nil:
            let isWhole = [200, 203].contains(facts.status)
            itsTotal = isWhole && !isDecoded ? facts.contentLength.bytes : nil
            let isSame = facts.entityTag != nil && facts.entityTag == content.known.entityTag
            // A decoded body cannot be compared with the bytes on disk: it replaces them.
            let mayReplace = isVouchedFor(source) && (!isDecoded || sources.homeIsGone)
            if source != 0, !sources.homeHasNone, isWhole, itsTotal == nil, !mayReplace,
                isDecoded || !isSame
            {
                return Failure(.serverBadResponse, "A mirror does not tell the length of its file.")
            }
        }
        guard let itsTotal, itsTotal != total else { return nil }
        let who = source == 0 ? "server" : "mirror"
        let text = "The file on the \(who) has \(itsTotal) bytes instead of \(total)."
        // A page in place of a mirror's file says nothing about that file.
        if source != 0, !facts.standsInForFile(of: content.known, onDisk: content.stored) {
            sources.noteOtherFile(Failure(.serverContentChanged, text))
        }
        return Failure(.serverBadResponse, text)
    }

    // MARK: Tags

    /// Whether the answer comes from the source and the host that gave the recorded validators.
    ///
    /// After a restart it is known only whether the task's own URL gave them: then its host counts;
    /// otherwise any answer for that URL does, unless there are mirrors.
    private func isFromValidatorOrigin(_ answer: Answer) -> Bool {
        guard !content.known.needsProof else { return false }
        guard let validators = learned.validators else {
            let isFromElsewhere = content.known.isFromElsewhere
            let isOfHost = isFromElsewhere ? request.mirrors.isEmpty : answer.host == request.origin
            return answer.source == 0 && isOfHost
        }
        return validators.source == sources.urls[answer.source] && validators.host == answer.host
    }

    /// Whether the answer comes from the URL that gave the recorded validators, queries aside.
    ///
    /// After a restart it is known only whether the task's own URL gave them.
    private func isFromValidatorPlace(_ answer: Answer) -> Bool {
        let isOfHome = isFromHome(answer) && !content.known.isFromElsewhere
        return learned.validators.map { $0 == origin(of: answer) } ?? isOfHome
    }

    /// Whether the answer comes from the task's own URL, and from no target of a redirect.
    private func isFromHome(_ answer: Answer) -> Bool {
        answer.source == 0 && answer.host == request.origin
            && answer.path == URLParts(sources.urls[0])?.path ?? ""
    }

    private func origin(of answer: Answer) -> ValidatorOrigin {
        ValidatorOrigin(source: sources.urls[answer.source], host: answer.host, path: answer.path)
    }

    /// Returns what an ETag in the answer means that differs from the recorded one.
    private func meaningOfAnotherTag(in answer: Answer) -> TagMeaning {
        guard !answer.hostGivesSeveralTags else { return .nothing }
        // Where the host that gave the recorded ETag gives another one, no other host can tell that
        // the file is the same.
        guard isFromValidatorOrigin(answer) || learned.tags.hasSeenAnother else { return .nothing }
        return learned.tags.meaning(onDisk: content.stored.byteCount)
    }

    /// Takes note of the ETag in an answer on the lead connection.
    private mutating func noteTag(of facts: ResponseFacts, in answer: Answer) {
        let isOwn = isFromValidatorOrigin(answer)
        guard answer.isLead, [200, 206].contains(facts.status), !content.stored.isEmpty,
            let recorded = content.known.entityTag, answer.isForTag || isOwn
        else { return }
        let date = content.known.lastModified
        learned.tags.note(
            isOwn ? facts.entityTag : nil,
            recorded: recorded,
            hasSameDate: date != nil && facts.lastModified?.field == date?.field,
            isNewConnection: answer.isForTag
        )
    }

    // MARK: What an answer does to the bytes on disk

    /// Starts the file anew with the answer's first byte.
    mutating func begin(_ version: RemoteVersion, by answer: Answer) {
        let (old, owner) = (content.known, content.owner)
        mixture?.content = nil
        let isForTag = old.differsByTagAlone(from: version)
        let lost = content.begin(version, from: answer.source)
        if lost > 0, answer.source == 0 { learned.versions.begin(version, givingUp: old) }
        learned.tags.beginFile(givingUp: isForTag ? lost : 0)
        learned.validators = origin(of: answer)
        noteOverwrite(lost: lost, of: owner, to: answer.source)
    }

    /// Ends a proof whose bytes were all equal: the bytes on disk belong to the answer's version.
    ///
    /// - Returns: whether the host was seen to give one unchanged file several ETags; nil where
    ///   there was nothing to prove.
    package mutating func proven(_ id: Int) -> Bool? {
        guard let connection = requests[id], let answer = connection.answer,
            case .rest(let version, let start, let end) = connection.proof
        else { return nil }
        requests.prove(id, nil)
        // Bytes after the first gap were not compared: they are fetched again.
        if start == 0 { content.truncate(to: end) }
        let showsTags =
            learned.tags.showsSeveralTags && isFromValidatorOrigin(answer)
            && content.known.differsByTagAlone(from: version)
        content.isProven(as: version)
        learned.validators = origin(of: answer)
        if start == 0 { content.setOwner(answer.source) }
        return showsTags
    }

    /// Drops the stored bytes from `position` on; the answer's bytes replace them.
    ///
    /// - Parameters:
    ///   - position: the offset of the first byte that differs.
    ///   - version: the version of the bytes that stay; nil where it does not change.
    ///   - start: the offset at which the comparison began.
    ///   - answer: the answer.
    mutating func cut(
        to position: Int64,
        as version: RemoteVersion?,
        comparedFrom start: Int64,
        by answer: Answer
    ) {
        let (before, owner) = (content.stored.byteCount, content.owner)
        content.truncate(to: position)
        if let version {
            content.isProven(as: version)
            learned.validators = origin(of: answer)
        }
        guard start == 0 else { return }
        content.setOwner(answer.source)
        noteOverwrite(lost: before - content.stored.byteCount, of: owner, to: answer.source)
    }

    private mutating func noteOverwrite(lost: Int64, of owner: Int?, to source: Int) {
        if lost > 0, owner != source, sources.areTriedAlone { sources.countOverwrite() }
    }

    /// Judges an answer that ended too early, once its bytes are stored.
    ///
    /// - Parameters:
    ///   - failure: how the answer ended.
    ///   - id: its connection.
    /// - Returns: the failure. It is final where several answers ended at the same byte: then the
    ///   server announces more than it has, or reports an error at the end of every answer.
    package mutating func endedShort(_ failure: Failure, _ id: Int) -> Failure {
        guard failure.isTransient, requests[id]?.isComparing == true, wholeEnd > 0,
            wholeEnd == content.stored.end, wholeEnd < content.known.total ?? .max
        else { return failure }
        guard learned.shortEnd.count(of: wholeEnd) >= ShortEnd.most else { return failure }
        let claim = content.known.total.map { "announces \($0) bytes" } ?? "tells no size"
        return Failure(
            .serverTruncated,
            "The server \(claim), and each of its answers ends after \(wholeEnd) bytes. Check the URL,"
                + " or \(Failure.freshLink)"
        )
    }

    /// Whether a file that is not the right one may have been cut.
    ///
    /// A second body that ends at the same byte shows that the file has no more.
    package mutating func mayBeCut() -> Bool {
        endsAnywhere && content.size < request.expectedSize ?? .max
            && learned.openEnd.isNew(content.size)
    }

    /// Stops trusting the length that an FTP server announces: it has sent more bytes than that.
    package mutating func distrustSize() {
        distrustsSize = true
        needsOneAnswer = true
    }

    /// Gives up the bytes on disk and has one answer bring the whole file: several answers were not
    /// of one version.
    package mutating func fetchInOneAnswer() {
        content.giveUp()
        needsOneAnswer = true
    }

    /// Whether a wrong digest may come from answers of several versions, which no validator could
    /// tell apart: then one answer has to bring the file before it counts as wrong.
    private var mayBeMixed: Bool {
        sources.urls.count == 1 && !learned.hasDoubtedMix && !content.isOfOneAnswer
            && (content.known.restsOnProof || content.known.strongValidator == nil)
    }

    // MARK: The next source

    /// Decides what comes after the source that was asked.
    ///
    /// - Parameters:
    ///   - outcome: how it went with that source.
    ///   - before: what was on disk when it was asked.
    ///   - load: how far other tasks' connections use up what its host allows.
    ///   - now: a reading of a clock that only goes forward.
    /// - Returns: what to do next. Bytes on disk that are worthless are already given up.
    package mutating func next(
        after outcome: Sources.Outcome,
        before: Content,
        load: HostLimits.Load = .none,
        at now: Duration
    ) -> Sources.Next {
        if case .wrongFile(let wrong) = outcome, wrong.code == .checksumMismatch, mayBeMixed {
            mixture = Mixture(failure: wrong, content: content)
            learned.hasDoubtedMix = true
            fetchInOneAnswer()
            return .ask(givingUp: true)
        }
        let position = sources.position
        let stored = Sources.StoredBytes(
            isEmpty: content.stored.isEmpty,
            owner: content.owner,
            hasMore: content.stored.byteCount > before.stored.byteCount,
            hasTakenOver: content.owner != before.owner
        )
        let next = sources.next(after: outcome, stored, load: load, at: now)
        if sources.position != position { content.forgetSamples() }
        if let mixture, case .end(.failed(let last), _) = next, !last.isTransient {
            // The bytes stay for the user to look at.
            if let old = mixture.content { content = old }
            return .end(.failed(mixture.failure), givingUp: false)
        }
        if next.givesUp { content.giveUp() }
        return next
    }
}

/// A file with a wrong digest, whose bytes may come from several versions.
private struct Mixture: Hashable, Sendable {
    let failure: Failure
    /// Nil once another answer takes the place of the bytes.
    var content: Content?
}
