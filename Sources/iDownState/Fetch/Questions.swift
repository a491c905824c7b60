// SPDX-License-Identifier: Apache-2.0

/// What the present source is asked, one question after the other, until every byte is stored.
///
/// Where an answer is to go on behind what is on disk, samples of that are compared before.
package struct Questions: Hashable, Sendable {
    /// What a question has come to, redirects followed.
    package enum Answer: Hashable, Sendable {
        /// The body is in the file.
        case stored
        /// Everything was there already.
        case complete
        /// The sample that was asked for is what is on disk.
        case equal
        case again(Ask, RemoteVersion)
    }

    /// Each answer may send the question back once or twice; a server that never stops is told apart
    /// from one that gives a little with each answer.
    private static let mostFruitless = 6

    /// What is to be asked in the end.
    private var goal: Ask
    /// What is compared before; nil while nobody has looked whether it has to be.
    private var samples: [ByteRange]?
    private var equal = 0
    private var fruitless = 0
    /// What was on disk before the last question.
    private var before: Int64 = 0
    /// Whether the last answer ended before anything came that was not there.
    package private(set) var endedEarly = false
    /// Whether nothing is left to be asked.
    package private(set) var areAnswered = false

    /// - Parameters:
    ///   - fetch: what is known of the file.
    ///   - isOfCopy: what is on disk may be another file than the recorded one, and is proven first.
    package init(_ fetch: Fetch, isOfCopy: Bool) {
        goal = Self.goal(in: fetch, isOfCopy: isOfCopy)
    }

    private static func goal(in fetch: Fetch, isOfCopy: Bool) -> Ask {
        let ask = fetch.firstAsk
        guard isOfCopy, ask.isPartial, let total = fetch.content.known.total else { return ask }
        return .proof(for: fetch.content.stored, upTo: total)
    }

    /// The bytes by which an answer is to show that it goes on where those on disk end; nil where
    /// that is not asked for, or is being found out.
    package func overlap(in fetch: Fetch) -> ByteRange? {
        guard samples == nil, case .overlap(let start, let end, _) = goal, isOpen(in: fetch) else {
            return nil
        }
        return ByteRange(from: start, to: end)
    }

    private func isOpen(in fetch: Fetch) -> Bool {
        !fetch.content.hasEqualSamples || fetch.isAskingForTags
    }

    /// The overlap would prove nothing.
    package mutating func askForAll() { goal = .whole }

    /// The next question.
    ///
    /// - Parameters:
    ///   - fetch: what is known of the file.
    ///   - generator: chooses the samples.
    /// - Returns: the question; nil where all are answered, and where there were too many.
    package mutating func next(
        _ fetch: inout Fetch,
        using generator: inout some RandomNumberGenerator
    ) -> Ask? {
        guard !areAnswered, fruitless < Self.mostFruitless else { return nil }
        before = fetch.content.stored.byteCount
        if let overlap = overlap(in: fetch) {
            samples = OverlapProof.samples(
                of: fetch.content.stored,
                leavingOut: overlap,
                using: &generator
            )
        }
        guard let samples else { return goal }
        let isEnough = equal >= samples.count && !fetch.isAskingForTags
        guard isEnough || samples.isEmpty else { return .sample(samples[equal % samples.count]) }
        fetch.content.samplesWereEqual()
        return goal
    }

    /// Takes an answer to the last question.
    ///
    /// - Parameters:
    ///   - answer: what it has come to.
    ///   - fetch: what is known of the file.
    ///   - isOfCopy: what is on disk may still be another file than the recorded one.
    /// - Returns: whether it has brought anything.
    @discardableResult
    package mutating func take(
        _ answer: Answer,
        _ fetch: inout Fetch,
        isOfCopy: Bool = false
    ) -> Bool {
        endedEarly = false
        switch answer {
        case .complete:
            areAnswered = true
        case .equal:
            equal += 1
            return true
        case .again(let ask, let version):
            fetch.content.know(version)
            goal = ask
            fruitless += 1
        case .stored:
            let content = fetch.content
            areAnswered = content.known.total == nil || content.isComplete
            goal = Self.goal(in: fetch, isOfCopy: isOfCopy)
            // Who brings something with each answer may take as many as it likes.
            guard content.stored.byteCount > before else {
                endedEarly = true
                fruitless += 1
                break
            }
            fruitless = 0
            begin()
            return true
        }
        begin()
        return false
    }

    private mutating func begin() { (samples, equal) = (nil, 0) }
}
