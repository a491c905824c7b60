// SPDX-License-Identifier: Apache-2.0

/// What one attempt knows of its file and of the sources, and what it decides by that.
///
/// No clock, no disk and no server: the transfer tells what has happened and carries out what comes
/// of it.
package struct Fetch: Hashable, Sendable {
    /// The head of an answer, and the request that it belongs to.
    package struct Answer: Hashable, Sendable {
        package var facts: ResponseFacts
        package var ask: Ask
        /// The source at which the chain of redirects began.
        package var source: Int
        /// The host that answers.
        package var host: Origin
        /// Whether it is an answer to a first connection.
        package var isLead: Bool
        /// Whether it came over a connection that was made for it, to see its tag.
        package var isForTag = false
        /// The file is itself a compressed one: a Content-Encoding is its own.
        package var keepsEncoding = false
        /// The host is known to give one unchanged file several ETags.
        package var hostGivesSeveralTags = false

        /// The codings that are taken off its body, in the order in which they were applied.
        package var codings: [ContentCoding] { facts.codings(keepsEncoding: keepsEncoding) }

        package init(
            _ facts: ResponseFacts,
            to ask: Ask,
            from source: Int,
            at host: Origin,
            isLead: Bool
        ) {
            self.facts = facts
            self.ask = ask
            self.source = source
            self.host = host
            self.isLead = isLead
        }
    }

    /// What the next attempt has to know while the service runs.
    package struct Memory: Hashable, Sendable {
        package fileprivate(set) var sources = Sources.Memory()
        fileprivate var tags = TagEvidence()
        fileprivate var validators: ValidatorOrigin?
        fileprivate var shortEnd: ShortEnd?

        package init() {}

        /// Whether the next attempt would go another way without it.
        package var isOfUse: Bool {
            sources.isOfUse || validators != nil || tags.givenUp > 0 || shortEnd != nil
        }
    }

    /// Where answers with the whole file ended before the length that they announced, having brought
    /// nothing that was not there.
    fileprivate struct ShortEnd: Hashable, Sendable {
        let position: Int64
        var count: UInt32 = 0
        /// So many at the very same byte are no accident: a host that is known gets no more tries
        /// then than another one.
        static let most = RetryPolicy.tries
    }

    /// A source, and the host that answered for it: a redirect may lead to another one.
    fileprivate struct ValidatorOrigin: Hashable, Sendable {
        let source: String
        let host: Origin
    }

    package let request: TaskRequest
    package var content: Content
    package var sources: Sources
    package var requests = Requests()
    /// What is known of the tags that the sources give.
    private var tags: TagEvidence
    /// Where the validators on record come from; nil where nobody knows.
    private var validators: ValidatorOrigin?
    /// Several answers were not of one version, so that one alone has to bring all.
    private var bringsInOneAnswer = false
    /// An FTP server has sent more than it had announced.
    private var distrustsSize = false
    private var shortEnd: ShortEnd?
    /// How far the last answer went that began with the file's first byte.
    var wholeEnd: Int64 = 0

    /// - Parameters:
    ///   - request: what the client asked for.
    ///   - home: its URL, in normal form.
    ///   - mirrors: its mirrors, in normal form.
    ///   - known: the version that the bytes on disk belong to.
    ///   - segments: the bytes on disk.
    ///   - memory: what earlier attempts have found out.
    ///   - hasFailed: the attempt before this one has failed, and nobody has asked for another.
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
        content = Content(known, segments, owner: sources.owner(by: memory.sources))
        tags = sources.isOfAnother(memory.sources) ? TagEvidence() : memory.tags
        tags.beginAttempt()
        validators = memory.validators
        shortEnd = memory.shortEnd
    }

    /// What the next attempt has to know.
    ///
    /// - Parameter failure: why this one has ended; nil where it was stopped.
    /// - Returns: what it has found out.
    package mutating func memory(after failure: Failure?) -> Memory {
        var memory = Memory()
        memory.sources = sources.memory(
            after: failure,
            owner: content.owner,
            isEmpty: content.stored.isEmpty
        )
        memory.tags = tags
        memory.validators = validators
        memory.shortEnd = shortEnd
        return memory
    }

    /// The sources are asked from now on: what an earlier attempt has left was looked at.
    package mutating func begin() {
        sources.begin(owner: content.stored.isEmpty ? nil : content.owner)
    }

    // MARK: What to ask

    /// Whether a wrong byte will show at the end, wherever it came from.
    package var hasDigest: Bool { request.hasDigest(of: content.known) }

    /// Whether equal lengths are enough to take a source's bytes for those of the file: a digest
    /// of the whole tells in the end.
    package func isVouchedFor(_ source: Int) -> Bool {
        hasDigest && (source != 0 || !sources.isAtHome)
    }

    /// The first request to the present source.
    ///
    /// A mirror has validators of its own, which say nothing about those on record.
    package var firstAsk: Ask {
        let (stored, known) = (content.stored, content.known)
        // Who is asked alone has to show that what others have brought is what it has.
        if sources.areHeardAlone, !stored.isEmpty, content.owner != sources.position {
            return .whole
        }
        let ask = Ask.first(for: stored, of: known)
        return isVouchedFor(sources.position) ? ask.unconditional : ask
    }

    /// What a connection that is to join asks its source for.
    package func ask(for range: ByteRange, of source: Int) -> Ask {
        // A mirror that is vouched for does not know the validators on record.
        let isPlain = content.known.dislikesIfRange || isVouchedFor(source)
        return .part(range, ifRange: isPlain ? nil : content.known.strongValidator)
    }

    /// Whether windows are asked for over new connections, to see which tags they come with.
    package var isAskingForTags: Bool { tags.isOpen(onDisk: content.stored.byteCount) }

    // MARK: What an answer means

    /// Judges the head of an answer.
    ///
    /// - Parameters:
    ///   - answer: the head.
    ///   - id: the connection over which it came.
    /// - Returns: what to do with the body.
    package mutating func judge(_ answer: Answer, over id: Int) -> Judgement {
        let judgement = judgement(of: answer)
        requests.judged(id, judgement, answer)
        return judgement
    }

    private mutating func judgement(of answer: Answer) -> Judgement {
        let facts = seen(answer)
        let isDecoded = !answer.codings.isEmpty
        if let refusal = refusal(of: facts, from: answer.source, isDecoded: isDecoded) {
            return .fail(refusal)
        }
        hear(facts, in: answer)
        let judgement = facts.judge(
            asked: answer.ask,
            known: content.known,
            onDisk: content.stored,
            otherTag: meaningOfAnotherTag(in: answer),
            // Digests of the whole or of pieces tell in the end.
            isOfSameHost: hasDigest || request.hasPieceHashes || isFromValidatorHost(answer),
            keepsEncoding: answer.keepsEncoding,
            digestTells: hasDigest && !answer.isLead
        )
        guard answer.source != 0 else { return judgement }
        switch judgement {
        // That a mirror serves no ranges says nothing of home.
        case .compare(var version) where !content.known.refusesRanges:
            version.refusesRanges = false
            return .compare(version)
        // What is decoded is held against home's digest as well.
        case .begin(var version) where isDecoded:
            version.checksum = content.homeDigest
            return .begin(version)
        case .begin, .resume, .compare, .prove, .check, .complete, .askAgain, .redirect, .fail:
            return judgement
        }
    }

    /// A head as it is judged: a mirror that is vouched for is taken to have the version on record.
    ///
    /// Whoever answers without a length may bring a page in place of the file, and a digest of the
    /// client's own server goes before a mirror's.
    private mutating func seen(_ answer: Answer) -> ResponseFacts {
        let known = content.known
        var facts = answer.facts
        if answer.source != 0 {
            facts.checksum = content.homeDigest ?? facts.checksum
            // Of another host a date that differs tells nothing: its tag or its bytes do.
            if let date = known.lastModified, facts.lastModified?.field != date.field {
                facts.lastModified = nil
            }
        } else if facts.status == 200 || (facts.status == 206 && facts.checksum != nil) {
            // Of an encoded body, or a page in place of the file, it tells nothing of the file; a
            // part may not say it again.
            content.noteHomeDigest(facts.contentEncoding == nil ? facts.checksum : nil)
        }
        if bringsInOneAnswer, !sources.isHTTP(answer.source) {
            facts = facts.inOneAnswer
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

    /// Why a source's answer is not that of the same file, before it costs the bytes on disk.
    ///
    /// Home has the last word, unless what is there has the size that the client expects.
    ///
    /// - Parameters:
    ///   - facts: what the answer says.
    ///   - source: whose it is.
    ///   - isDecoded: its body has a coding that is taken off.
    /// - Returns: why it brings no part of the file; nil where it may.
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
            // What is decoded cannot be compared with what is there, and begins anew.
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
        // A page that a mirror shows in place of the file says nothing of the file.
        if source != 0, !facts.standsInForFile(of: content.known, onDisk: content.stored) {
            sources.noteOtherFile(Failure(.serverContentChanged, text))
        }
        return Failure(.serverBadResponse, text)
    }

    // MARK: Tags

    /// Whether the answer comes from the source and host that gave the validators on record.
    ///
    /// A restarted service knows neither: there the client's URL counts as the one that did, unless
    /// the client gave mirrors as well.
    private func isFromValidatorOrigin(_ answer: Answer) -> Bool {
        guard !content.known.needsProof else { return false }
        guard let validators else { return answer.source == 0 && request.mirrors.isEmpty }
        return validators == origin(of: answer)
    }

    /// Whether the host that gave the validators on record gives these.
    ///
    /// A restarted service does not know it: there the host of the client's URL counts as that.
    private func isFromValidatorHost(_ answer: Answer) -> Bool {
        guard let validators else {
            return answer.source == 0 && request.mirrors.isEmpty && answer.host == request.origin
        }
        return validators == origin(of: answer)
    }

    private func origin(of answer: Answer) -> ValidatorOrigin {
        ValidatorOrigin(source: sources.urls[answer.source], host: answer.host)
    }

    /// What a tag in the answer means that differs from the record's.
    private func meaningOfAnotherTag(in answer: Answer) -> TagMeaning {
        guard isFromValidatorOrigin(answer), !answer.hostGivesSeveralTags else { return .nothing }
        return tags.meaning(onDisk: content.stored.byteCount)
    }

    /// Takes note of the tag in an answer to a first connection.
    private mutating func hear(_ facts: ResponseFacts, in answer: Answer) {
        guard answer.isLead, [200, 206].contains(facts.status), !content.stored.isEmpty,
            let recorded = content.known.entityTag,
            answer.isForTag || isFromValidatorOrigin(answer)
        else { return }
        tags.hear(facts.entityTag, recorded: recorded, isNewConnection: answer.isForTag)
    }

    // MARK: What an answer does to the bytes on disk

    /// The file begins anew with the answer's first byte.
    mutating func begin(_ version: RemoteVersion, by answer: Answer) {
        let isForTag = content.known.differsByTagAlone(from: version)
        let owner = content.owner
        let lost = content.begin(version, from: answer.source)
        tags.beginFile(givingUp: isForTag ? lost : 0)
        validators = origin(of: answer)
        noteTurn(lost: lost, of: owner, to: answer.source)
    }

    /// The bytes on disk before `end` are those of `version`, as the answer has shown from `start`
    /// on.
    ///
    /// - Returns: whether the host gives one unchanged file several tags.
    mutating func adopt(
        _ version: RemoteVersion,
        from start: Int64,
        to end: Int64,
        by answer: Answer
    ) -> Bool {
        // What lies behind a gap was not compared, and comes again.
        if start == 0 { content.truncate(to: end) }
        let showsTags =
            tags.showsSeveralTags && isFromValidatorOrigin(answer)
            && content.known.differsByTagAlone(from: version)
        content.know(version)
        validators = origin(of: answer)
        if start == 0 { content.own(by: answer.source) }
        return showsTags
    }

    /// The answer's bytes differ from those on disk at `position`, and are taken from there on.
    ///
    /// - Parameters:
    ///   - position: the first byte that differs.
    ///   - version: what is on disk belongs to it from now on; nil where it stays what it was.
    ///   - start: where the comparison began.
    ///   - answer: whose bytes they are.
    mutating func cut(
        to position: Int64,
        as version: RemoteVersion?,
        comparedFrom start: Int64,
        by answer: Answer
    ) {
        let (before, owner) = (content.stored.byteCount, content.owner)
        content.truncate(to: position)
        if let version {
            content.know(version)
            validators = origin(of: answer)
        }
        guard start == 0 else { return }
        content.own(by: answer.source)
        noteTurn(lost: before - content.stored.byteCount, of: owner, to: answer.source)
    }

    private mutating func noteTurn(lost: Int64, of owner: Int?, to source: Int) {
        if lost > 0, owner != source, sources.areHeardAlone { sources.takeTurn() }
    }

    /// Judges why an answer has ended before its time, once what it has brought is in the file.
    ///
    /// - Parameters:
    ///   - failure: how it ended.
    ///   - id: its connection.
    /// - Returns: the failure; it is final where the server announces more than it has, as the same
    ///   end of several answers shows.
    package mutating func endedShort(_ failure: Failure, _ id: Int) -> Failure {
        guard failure.isTransient, requests[id]?.isComparing == true, wholeEnd > 0,
            wholeEnd == content.stored.end, let total = content.known.total, wholeEnd < total
        else { return failure }
        var short =
            shortEnd.flatMap { $0.position == wholeEnd ? $0 : nil }
            ?? ShortEnd(position: wholeEnd)
        short.count += 1
        shortEnd = short
        guard short.count >= ShortEnd.most else { return failure }
        return Failure(
            .serverTruncated,
            "The server announces \(total) bytes, and each of its answers ends after \(wholeEnd)."
                + " Check the URL, or \(Failure.freshLink)"
        )
    }

    /// An FTP server has sent more than it had announced: what it says of the length is not believed
    /// again.
    package mutating func distrustSize() {
        distrustsSize = true
        bringsInOneAnswer = true
    }

    /// What came in several answers is not one version of the file: one has to bring all of it.
    package mutating func bringInOneAnswer() {
        content.giveUp()
        bringsInOneAnswer = true
    }

    // MARK: The next source

    /// Decides what comes after the source that was asked.
    ///
    /// - Parameters:
    ///   - outcome: what it has come to.
    ///   - before: what was on disk when it was asked.
    ///   - isCrowded: whether other tasks have as many connections open as its host allows.
    ///   - now: any clock's reading that only goes forward.
    /// - Returns: what is to be done; bytes that are worth nothing are given up here.
    package mutating func next(
        after outcome: Sources.Outcome,
        before: Content,
        isCrowded: Bool = false,
        at now: Duration
    ) -> Sources.Next {
        let position = sources.position
        let standing = Sources.Standing(
            isEmpty: content.stored.isEmpty,
            owner: content.owner,
            hasMore: content.stored.byteCount > before.stored.byteCount,
            hasTakenOver: content.owner != before.owner
        )
        let next = sources.next(after: outcome, standing, isCrowded: isCrowded, at: now)
        if sources.position != position { content.forgetSamples() }
        switch next {
        case .ask(givingUp: true), .end(_, givingUp: true): content.giveUp()
        case .ask, .end: break
        }
        return next
    }
}

extension ResponseFacts {
    /// The same, where nobody may join and nothing may be asked for by range.
    fileprivate var inOneAnswer: ResponseFacts {
        var facts = self
        facts.acceptsRanges = false
        facts.refusesRanges = true
        return facts
    }
}
