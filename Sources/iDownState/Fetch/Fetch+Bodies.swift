// SPDX-License-Identifier: Apache-2.0

// What the bodies of answers do to the bytes on disk.
extension Fetch {
    /// Where a body goes.
    package struct Body: Hashable, Sendable {
        /// The offset of its first byte.
        package let start: Int64
        /// The offset behind the last byte that may be stored; nil where none is known.
        package let end: Int64?
        /// The bytes of the file that are compared with those that come.
        package var compared = SegmentMap()
        /// Nothing is written before all of those were equal.
        package var isProof = false
    }

    /// The body of a first answer comes, and what is on disk is what its head says.
    ///
    /// - Parameter id: its connection, whose head is judged.
    /// - Returns: where the body goes; nil where nothing is stored.
    package mutating func open(_ id: Int) -> Body? {
        guard let connection = requests[id], let answer = connection.answer else { return nil }
        let ask = connection.route.ask
        wholeEnd = 0
        switch connection.judgement {
        case .begin(let version):
            begin(version, by: answer)
            return Body(start: 0, end: version.total ?? request.endOfInterest)
        case .resume(let version):
            content.goOn(version, isCompared: ask.offset == 0 && content.stored.isEmpty)
            return Body(start: ask.offset, end: ask.end ?? version.total)
        case .compare(let version):
            content.goOn(version, isCompared: true)
            return Body(start: 0, end: version.total, compared: content.stored)
        case .prove(let version, let start):
            return prove(id, version, from: start, asked: ask)
        case .check:
            switch ask {
            case .sample(let range), .ending(let range):
                requests.prove(id, .sample(range))
                let compared = SegmentMap([range])
                return Body(start: range.first, end: range.end, compared: compared, isProof: true)
            case .whole, .rest, .part, .overlap: return nil
            }
        case .complete, .askAgain, .redirect, .fail, nil: return nil
        }
    }

    /// The comparison of an answer decides what the bytes on disk are worth; until then they are
    /// those of the old version.
    private mutating func prove(
        _ id: Int,
        _ version: RemoteVersion,
        from start: Int64,
        asked ask: Ask
    ) -> Body {
        var (resumePoint, end) = (content.size, version.total)
        // Whoever sends all of the file in place of the overlap is compared with all that is there.
        if start > 0, case .overlap(_, let askedPoint, let askedEnd) = ask {
            (resumePoint, end) = (askedPoint, askedEnd ?? end)
        }
        content.beginProof(from: start)
        requests.prove(id, .rest(version, from: start, to: resumePoint))
        let range = ByteRange(from: start, to: resumePoint)
        let compared = SegmentMap([range].compactMap(\.self))
        return Body(start: start, end: end, compared: compared, isProof: true)
    }

    /// What bytes on disk are worth where the server's differ.
    package enum Difference: Hashable, Sendable {
        /// Those before the difference are of the version on record; the answer goes on from there.
        case cut
        /// They are of this one.
        case cutAs(RemoteVersion)
        /// Nothing, and the answer is no use.
        case worthless
    }

    /// The server's bytes are not those on disk.
    ///
    /// Compared from the file's start on, they leave those before the first difference; a
    /// difference in any other place means another file.
    ///
    /// - Parameters:
    ///   - id: the connection.
    ///   - position: the first byte that differs.
    /// - Returns: what those on disk are worth.
    package mutating func differs(_ id: Int, at position: Int64) -> Difference {
        guard let connection = requests[id], let answer = connection.answer,
            let start = connection.start
        else { return .worthless }
        switch connection.proof {
        case nil, .succeeded:
            cut(to: position, as: nil, comparedFrom: start, by: answer)
            return .cut
        // What is there has another length, and nobody knows which.
        case .rest(_, from: 0, to: _) where answer.tellsNoLength:
            content.forget()
            requests.prove(id, .failed)
            return .worthless
        case .rest(let version, from: 0, to: _):
            cut(to: position, as: version, comparedFrom: start, by: answer)
            requests.prove(id, nil)
            return .cutAs(version)
        case .rest, .sample, .failed:
            content.forget()
            requests.prove(id, .failed)
            return .worthless
        }
    }

    /// All bytes that were to prove what is on disk are equal: they are the answer's version.
    ///
    /// - Returns: whether its host was seen to give one unchanged file several tags; nil
    ///   where nothing was to be proven.
    package mutating func proven(_ id: Int) -> Bool? {
        guard let connection = requests[id], let answer = connection.answer,
            case .rest(let version, let start, let end) = connection.proof
        else { return nil }
        requests.prove(id, nil)
        return adopt(version, from: start, to: end, by: answer)
    }

    /// What a connection has brought is in the file up to `end`.
    package mutating func stored(_ id: Int, upTo end: Int64) {
        guard let connection = requests[id], let start = connection.start,
            let written = ByteRange(from: start, to: end)
        else { return }
        if start == 0 { wholeEnd = end }
        if connection.proof == .sample(written) { requests.prove(id, .succeeded) }
        // From the first byte on it was held against all that was there, and nobody else came.
        let coversAll =
            start == 0 && connection.isComparing && requests.joining == nil
            && end >= content.stored.end
        content.store(written, from: connection.route.source, coversAll: coversAll)
    }

    /// What a first answer has come to, once all that came of its body is in the file.
    ///
    /// - Parameters:
    ///   - id: its connection.
    ///   - isWhole: there was no more to come.
    /// - Returns: the answer; nil where more was to come.
    package func answer(_ id: Int, isWhole: Bool) -> Questions.Answer? {
        switch requests[id]?.proof {
        // The content changed: it is fetched from zero, and nothing is mixed.
        case .failed: .again(.whole, RemoteVersion())
        case .succeeded: .equal
        // The whole file came, and ended before what is there does.
        case .rest(_, from: 0, to: _): isWhole ? .stored : nil
        // Less came than the proof needs.
        case .sample, .rest: isWhole ? .again(.whole, content.known) : nil
        case nil: isWhole ? .stored : nil
        }
    }
}

extension Fetch.Answer {
    /// Whether the whole file comes without its length.
    fileprivate var tellsNoLength: Bool {
        [200, 203].contains(facts.status) && facts.contentLength.bytes == nil
    }
}

extension TaskRequest {
    /// Where a body without a length is cut: a byte behind the size that the client expects says
    /// as much as all that may follow.
    fileprivate var endOfInterest: Int64? { expectedSize.map { $0 == .max ? $0 : $0 + 1 } }
}
