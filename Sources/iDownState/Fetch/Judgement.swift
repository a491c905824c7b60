// SPDX-License-Identifier: Apache-2.0

/// What to do with an answer whose head has been read, before its body is used.
package enum Judgement: Hashable, Sendable {
    /// The body is the file from its first byte; the bytes on disk belong to another version or to
    /// an unknown one.
    case begin(RemoteVersion)
    /// The body continues the file on disk.
    case resume(RemoteVersion)
    /// The body is the file from its first byte, in the version that is on disk: the stored bytes
    /// are compared with it, and given up from the first byte that differs.
    ///
    /// Equal validators are not trusted here, because the server ignored a range. The record gives
    /// up the remaining bytes before they are overwritten, so after a crash it never claims a
    /// mixture of two versions.
    case compare(RemoteVersion)
    /// The body repeats stored bytes from an offset on, and then continues. If the repeated bytes
    /// are equal, the bytes on disk belong to this version, otherwise to another.
    case prove(RemoteVersion, from: Int64)
    /// The body repeats stored bytes; where they are equal, they are a part of a proof.
    case check
    /// All bytes are on disk already.
    case complete(RemoteVersion)
    /// Close this answer and send this request, with this knowledge of the file.
    case askAgain(Ask, RemoteVersion)
    case redirect(to: String)
    case fail(Failure)

    /// The name in the history.
    package var name: String {
        switch self {
        case .begin: "begin"
        case .resume: "resume"
        case .compare: "compare"
        case .prove: "prove"
        case .check: "check"
        case .complete: "complete"
        case .askAgain: "ask-again"
        case .redirect: "redirect"
        case .fail: "fail"
        }
    }

    /// The same judgement of a mirror's answer, which says nothing about the ranges of the server that
    /// gave the bytes on disk.
    func keepingRanges(of known: RemoteVersion) -> Judgement {
        func corrected(_ version: RemoteVersion) -> RemoteVersion {
            var version = version
            version.refusesRanges = known.refusesRanges
            return version
        }
        return switch self {
        case .compare(let version): .compare(corrected(version))
        case .prove(let version, let start): .prove(corrected(version), from: start)
        case .askAgain(let ask, _): .askAgain(ask, known)
        case .begin, .resume, .check, .complete, .redirect, .fail: self
        }
    }

    /// Why the answer is useless; nil where it is useful.
    package var failure: Failure? {
        if case .fail(let failure) = self { return failure }
        return nil
    }
}

extension ResponseFacts {
    /// Judges the answer to a request by its head.
    ///
    /// - Parameters:
    ///   - ask: what the request asked for.
    ///   - known: the version that the bytes on disk belong to.
    ///   - onDisk: the bytes on disk.
    ///   - otherTag: what an ETag means that differs from that version's.
    ///   - isOfSamePlace: whether that version's validators come from the URL that answers.
    ///   - keepsEncoding: whether the file itself is compressed: its Content-Encoding then belongs
    ///     to the file, and the bytes are stored as they come.
    ///   - digestTells: whether a digest checks the whole file in the end. A part then needs no
    ///     strong validator, only no sign of another version.
    /// - Returns: what to do with the body.
    package func judge(
        asked ask: Ask,
        known: RemoteVersion,
        onDisk: SegmentMap,
        otherTag: TagMeaning = .anotherFile,
        isOfSamePlace: Bool = true,
        keepsEncoding: Bool = false,
        digestTells: Bool = false
    ) -> Judgement {
        var judge = Judge(
            facts: self,
            ask: ask,
            known: known,
            onDisk: onDisk,
            otherTag: otherTag,
            isOfSamePlace: isOfSamePlace,
            digestTells: digestTells
        )
        // Ranges count the encoded bytes (RFC 9110 section 14.1.2), which are the file's own here.
        if contentEncoding != nil, codings(keepsEncoding: keepsEncoding).isEmpty {
            // A range that was compressed on the way is not a range of the file.
            if status == 206, contentLength.bytes == nil, !codings(keepsEncoding: false).isEmpty {
                return judge.refuseRange("is a range with a Content-Encoding, and no length")
            }
            judge.facts.contentEncoding = nil
        }
        return judge.judgement
    }

    /// Returns the codings to remove from the body; with a coding the length is not the file's.
    ///
    /// Other words that servers write (`none`, `binary`, `utf-8`) leave the bytes as they are.
    ///
    /// - Parameter keepsEncoding: whether the file itself is compressed.
    /// - Returns: the codings in the order in which they were applied; none for a body that is
    ///   stored as it comes.
    package func codings(keepsEncoding: Bool) -> [ContentCoding] {
        guard let contentEncoding, !keepsEncoding else { return [] }
        return ContentCoding.list(contentEncoding) ?? []
    }
}

/// The head of an answer, and what is known of the file and of the request.
private struct Judge {
    var facts: ResponseFacts
    let ask: Ask
    let known: RemoteVersion
    let onDisk: SegmentMap
    let otherTag: TagMeaning
    let isOfSamePlace: Bool
    let digestTells: Bool

    var judgement: Judgement {
        if facts.isUnreadable { return .fail(.badResponse("is not HTTP/1.0 or newer")) }
        if facts.contentLength == .invalid {
            let text = "has a Content-Length that is not a number, or two that differ"
            return .fail(.badResponse(text))
        }
        if facts.hasTransferCoding {
            return refuseRange("has a Transfer-Encoding that was not requested")
        }
        switch facts.status {
        case 200, 203:
            if isPartInDisguise {
                return refuseRange("holds a part of the file but has not status 206")
            }
            return judgeWhole(total: facts.contentLength.bytes)
        case 206: return judgePartial()
        case 301, 302, 303, 307, 308:
            if facts.hasSeveralLocations {
                return .fail(.badResponse("redirects to several URLs at once"))
            }
            guard let location = facts.location, !location.isEmpty else {
                return .fail(.badResponse("redirects, but to no URL"))
            }
            return .redirect(to: location)
        case 416: return judgeUnsatisfied()
        // The server makes the file first, and says when to ask again (RFC 9110 section 15.3.3).
        case 202 where facts.retryAfter != nil:
            return .fail(.status(202, retryAfter: facts.retryAfter))
        case _ where ask.isPartial && Self.objectsToRange(facts.status):
            return .askAgain(.whole, known.withoutRanges)
        case 100..<400: return .fail(.badResponse("is HTTP \(facts.status), which carries no file"))
        default: return .fail(.status(facts.status, retryAfter: facts.retryAfter))
        }
    }

    /// Whether a 200 brings only a part.
    ///
    /// Some scripts serve ranges without status 206, some without Content-Range as well: then the
    /// length is that of the part.
    private var isPartInDisguise: Bool {
        switch facts.contentRange {
        case .satisfied(let range, let total):
            guard range.first == 0 else { return true }
            guard let total else { return false }
            return range.length < total || (facts.contentLength.bytes ?? total) < total
        case .unsatisfied: return ask.isPartial
        case nil:
            guard ask.isPartial else { return false }
            if facts.hasUnreadableRange { return true }
            guard let length = facts.contentLength.bytes, length != known.total else {
                return false
            }
            return (ask.end ?? known.total).map { length == $0 - ask.offset } ?? false
        }
    }

    /// Whether the status may reject only the range, so that the whole file can still be had: some
    /// hosts reject what they should ignore.
    private static func objectsToRange(_ status: Int) -> Bool {
        switch status {
        case 204, 205, 304, 400, 405, 406, 409, 411, 412, 413, 417, 501: true
        default: false
        }
    }

    // MARK: 200

    private func judgeWhole(total: Int64?) -> Judgement {
        let version = version(total: total)
        let likeness = likeness(of: version)
        if total == 0, !onDisk.isEmpty || (known.total ?? 0) > 0,
            facts.entityTag == nil || facts.entityTag == known.entityTag,
            facts.lastModified == nil || facts.lastModified == known.lastModified
        {
            // Failing scripts answer like this. A file that is now empty has another date or ETag.
            let text = "The server sent nothing in place of the file."
            return .fail(.transient(.serverTruncated, text))
        }
        if likeness != .same, facts.standsInForFile(of: known, onDisk: onDisk) {
            return .fail(.linkExpired)
        }
        if facts.contentEncoding != nil, ask.isPartial { return .askAgain(.whole, known) }
        guard ask.isPartial else { return judgeProbe(version, likeness) }
        switch likeness {
        case .changed:
            return .begin(version)
        case .same where ask.ifRange != nil && version.total != nil:
            var withoutIfRange = known
            withoutIfRange.dislikesIfRange = true
            return .askAgain(ask.unconditional, withoutIfRange)
        // A cache that does not hold the file yet answers like this, and serves ranges later. To
        // ask for a range again costs nothing: an answer with the whole file is useful, too.
        case .same:
            return .compare(known.withUnshownRanges)
        case .unproven where ask.ifRange == nil || version.refusesRanges:
            return .prove(known.proven(as: version.withUnshownRanges), from: 0)
        case .unproven:
            // The host obeyed If-Range; its file may still equal the one on disk.
            let proof = Ask.proof(for: onDisk, upTo: known.total ?? 0)
            guard proof.isPartial else { return .prove(known.proven(as: version), from: 0) }
            return .askAgain(proof, known)
        }
    }

    /// Judges the answer to a plain GET, sent where nothing is on disk or no range can be asked
    /// for.
    private func judgeProbe(_ version: RemoteVersion, _ likeness: Likeness) -> Judgement {
        guard facts.contentEncoding == nil else {
            let limit = ContentCoding.mostInOneBody
            if facts.codings(keepsEncoding: false).count > limit {
                return .fail(.badResponse("has more than \(limit) content codings"))
            }
            // The length counts encoded bytes, and no range of those fits the decoded file.
            var decoded = version.withoutRanges
            decoded.total = nil
            decoded.checksum = nil
            return .begin(decoded)
        }
        guard !onDisk.isEmpty else { return .begin(version) }
        switch likeness {
        case .changed:
            return .begin(version)
        case .same:
            var same = version
            same.total = known.total
            same.checksum = version.checksum ?? known.checksum
            same.restsOnProof = known.restsOnProof
            return .compare(same)
        case .unproven:
            guard onDisk.prefixLength > 0 else { return .begin(version) }
            return .prove(known.proven(as: version), from: 0)
        }
    }

    // MARK: 206

    private func judgePartial() -> Judgement {
        if facts.mimeType == "multipart/byteranges" {
            return refuseRange("has several ranges, but one was requested")
        }
        guard case .satisfied(let range, let total) = facts.contentRange else {
            return refuseRange("has no readable Content-Range")
        }
        if facts.contentEncoding != nil { return refuseRange("is a range with a Content-Encoding") }
        guard range.first == ask.offset, range.end <= total ?? known.total ?? .max,
            range.length == facts.contentLength.bytes ?? range.length
        else { return refuseRange("holds another range than the requested one") }
        guard ask.isPartial else {
            // No range was requested, but one that covers the whole file is as good as a 200.
            guard let total, range.length == total else {
                return .fail(.badResponse("is a range, but the whole file was requested"))
            }
            return judgeWhole(total: total)
        }
        guard total == nil || total == known.total else { return .askAgain(.whole, known) }
        let version = version(total: known.total)
        let likeness = likeness(of: version)
        if likeness != .same, facts.standsInForFile(of: known, onDisk: onDisk) {
            return .fail(.linkExpired)
        }
        switch (ask, likeness) {
        case (_, .changed), (.whole, _): return .askAgain(.whole, known)
        case (.part, .unproven) where digestTells: return .resume(known.withRanges)
        case (.rest, .same), (.part, .same):
            var same = known.withRanges
            same.checksum = known.checksum ?? facts.checksum
            return .resume(same)
        case (.rest, .unproven), (.part, .unproven):
            return .askAgain(.proof(for: onDisk, upTo: known.total ?? 0), known)
        case (.overlap, .same): return .prove(known.withRanges, from: ask.offset)
        // The samples may be another node's: all of this one's file is compared.
        case (.overlap, .unproven) where otherTag == .unknown && known.hasAnotherTag(than: version):
            return .askAgain(.whole, known)
        case (.overlap, .unproven):
            let proven = known.proven(as: version, isOfSamePlace: isOfSamePlace)
            return .prove(proven, from: ask.offset)
        case (.sample(let sample), .same), (.sample(let sample), .unproven),
            (.ending(let sample), .same), (.ending(let sample), .unproven):
            guard range == sample else { return refuseRange("holds less than the requested range") }
            return .check
        }
    }

    /// Asks a server that gets ranges wrong for the whole file, and for no range in this attempt.
    func refuseRange(_ what: String) -> Judgement {
        guard ask.isPartial else { return .fail(.badResponse(what)) }
        return .askAgain(.whole, known.withoutRanges)
    }

    // MARK: 416

    private func judgeUnsatisfied() -> Judgement {
        guard ask.isPartial else { return .fail(.status(416)) }
        if case .unsatisfied(let total) = facts.contentRange, total == ask.offset,
            onDisk.covers(total),
            likeness(of: version(total: total)) == .same
        {
            return .complete(known)
        }
        return .askAgain(.whole, known)
    }

    // MARK: Versions

    private func likeness(of version: RemoteVersion) -> Likeness {
        known.likeness(of: version, otherTag: otherTag, isOfSamePlace: isOfSamePlace)
    }

    private func version(total: Int64?) -> RemoteVersion {
        let refusesRanges = facts.refusesRanges || known.refusesRanges
        return RemoteVersion(
            total: total,
            entityTag: facts.entityTag,
            lastModified: facts.lastModified,
            checksum: facts.checksum,
            mimeType: facts.mimeType,
            servesRanges: !refusesRanges && (facts.acceptsRanges || facts.status == 206),
            refusesRanges: refusesRanges,
            dislikesIfRange: known.dislikesIfRange,
            restsOnProof: facts.lacksValidators,
            isFromElsewhere: facts.isFromElsewhere
        )
    }
}

extension ContentLength {
    /// The number of bytes; nil where none was given, or an invalid one.
    package var bytes: Int64? {
        if case .bytes(let count) = self { return count }
        return nil
    }
}

extension Failure {
    /// The failure for an answer that cannot be a file.
    package static func badResponse(_ what: String) -> Failure {
        Failure(.serverBadResponse, "The server's answer \(what). Try later, or \(freshLink)")
    }
}
