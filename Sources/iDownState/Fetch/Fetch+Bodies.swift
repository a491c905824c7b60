// SPDX-License-Identifier: Apache-2.0

// How the bodies of answers change the bytes on disk.
extension Fetch {
    /// Where a body is stored, and what it is compared with.
    package struct Body: Hashable, Sendable {
        /// The offset of its first byte.
        package let start: Int64
        /// The offset after the last byte that may be stored; nil where it is unknown.
        package let end: Int64?
        /// The stored bytes that the body is compared with.
        package var compared = SegmentMap()
        /// Whether nothing is written before all of `compared` was equal.
        package var isProof = false
    }

    /// Opens the body of a lead connection, and adapts what is known of the bytes on disk to its
    /// head.
    ///
    /// - Parameter id: the connection, whose head is judged.
    /// - Returns: where the body goes; nil where nothing of it is stored.
    package mutating func open(_ id: Int) -> Body? {
        guard let connection = requests[id], let answer = connection.answer else { return nil }
        let ask = connection.route.ask
        wholeEnd = 0
        endsAnywhere = answer.isOpenEnded && answer.codings.isEmpty
        switch connection.judgement {
        case .begin(let version):
            begin(version, by: answer)
            // One byte after the size that the client expects is enough to see that the file is too
            // long.
            let cut = request.expectedSize.map { $0 == .max ? $0 : $0 + 1 }
            return Body(start: 0, end: version.total ?? cut)
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

    /// Begins a proof: the bytes on disk stay with the old version until the comparison with the
    /// answer decides.
    private mutating func prove(
        _ id: Int,
        _ version: RemoteVersion,
        from start: Int64,
        asked ask: Ask
    ) -> Body {
        var (resumePoint, end) = (content.size, version.total)
        // A server that sends the whole file in place of the overlap is compared with all stored
        // bytes.
        if start > 0, case .overlap(_, let askedPoint, let askedEnd) = ask {
            (resumePoint, end) = (askedPoint, askedEnd ?? end)
        }
        content.beginProof(from: start)
        requests.prove(id, .rest(version, from: start, to: resumePoint))
        let range = ByteRange(from: start, to: resumePoint)
        let compared = SegmentMap([range].compactMap(\.self))
        return Body(start: start, end: end, compared: compared, isProof: true)
    }

    /// What the bytes on disk are worth after a comparison that found a difference.
    package enum Difference: Hashable, Sendable {
        /// The bytes before the difference keep their version; the answer continues after them.
        case cut
        /// The bytes before the difference belong to this version; the answer continues after them.
        case cutAs(RemoteVersion)
        /// All bytes are worthless, and so is the answer.
        case worthless
    }

    /// Handles bytes of the server that differ from those on disk.
    ///
    /// A comparison from the file's first byte keeps the bytes before the difference. A difference
    /// in a comparison that starts later means another file.
    ///
    /// - Parameters:
    ///   - id: the connection.
    ///   - position: the offset of the first byte that differs.
    /// - Returns: what the bytes on disk are worth.
    package mutating func differs(_ id: Int, at position: Int64) -> Difference {
        guard let connection = requests[id], let answer = connection.answer,
            let start = connection.start
        else { return .worthless }
        switch connection.proof {
        case nil, .succeeded:
            cut(to: position, as: nil, comparedFrom: start, by: answer)
            return .cut
        case .rest(let version, from: 0, to: _) where !answer.tellsNoLength:
            cut(to: position, as: version, comparedFrom: start, by: answer)
            requests.prove(id, nil)
            return .cutAs(version)
        // Another file, perhaps only one of another, unknown length.
        case .rest, .sample, .failed:
            content.forget()
            requests.prove(id, .failed)
            return .worthless
        }
    }

    /// Records that a connection's bytes are in the file up to `end`.
    package mutating func stored(_ id: Int, upTo end: Int64) {
        guard let connection = requests[id], let start = connection.start,
            let written = ByteRange(from: start, to: end)
        else { return }
        if start == 0 || !sources.isHTTP(connection.route.source) { wholeEnd = end }
        if connection.proof == .sample(written) { requests.prove(id, .succeeded) }
        // Compared from the first byte on with all stored bytes, and no other connection brought
        // any.
        let coversAll =
            start == 0 && connection.isComparing && requests.joining == nil
            && end >= content.stored.end
        content.store(written, from: connection.route.source, coversAll: coversAll)
    }

    /// Whether the recorded size is that of an earlier answer, since this one tells none.
    ///
    /// A mirror's body says nothing about the size of the file at the task's own URL.
    package func onlyRemembersSize(_ id: Int) -> Bool {
        guard let answer = requests[id]?.answer else { return false }
        return answer.source == 0 && answer.tellsNoLength
    }

    /// Returns how a lead connection answered its question, once all received bytes are stored.
    ///
    /// - Parameters:
    ///   - id: the connection.
    ///   - isWhole: whether the body was received to its end.
    /// - Returns: the answer; nil where the body ended too early.
    package func answer(_ id: Int, isWhole: Bool) -> Questions.Answer? {
        switch requests[id]?.proof {
        // Another version: the file is fetched from its first byte, and versions are not mixed.
        case .failed: .again(.whole, RemoteVersion())
        case .succeeded: .equal
        // The whole file came, but it ends before the stored bytes do.
        case .rest(_, from: 0, to: _): isWhole ? .stored : nil
        // The body was too short for the proof.
        case .sample, .rest: isWhole ? .again(.whole, content.known) : nil
        // An earlier answer of unknown length brought more of the same version: this one was cut.
        case nil where content.known.total == nil && wholeEnd < content.stored.end: nil
        case nil: isWhole ? .stored : nil
        }
    }
}

extension Fetch.Answer {
    /// Whether the answer brings the whole file without saying its length.
    fileprivate var tellsNoLength: Bool {
        [200, 203].contains(facts.status) && facts.contentLength.bytes == nil
    }
}
