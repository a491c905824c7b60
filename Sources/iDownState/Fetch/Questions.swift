// SPDX-License-Identifier: Apache-2.0

/// The requests to the current source, one after the other, until every byte is stored.
///
/// Where an answer is to continue the bytes on disk, samples of those are compared first.
package struct Questions: Hashable, Sendable {
    /// How a request ended, after redirects.
    package enum Answer: Hashable, Sendable {
        /// The body is stored.
        case stored
        /// Every byte was already on disk.
        case complete
        /// The requested sample equals the bytes on disk.
        case equal
        case again(Ask, RemoteVersion)
    }

    /// The most answers in a row without new bytes.
    ///
    /// One answer may cause one or two repeats; a server that causes more is given up, while one
    /// that brings a few bytes each time is not.
    private static let mostFruitless = 6

    /// The request that fetches bytes, after the samples.
    private var goal: Ask
    /// The samples to compare first; nil until they are chosen, and where none are needed.
    private var samples: [ByteRange]?
    private var equal = 0
    private var fruitless = 0
    /// The number of bytes on disk before the last request.
    private var before: Int64 = 0
    /// Whether the last answer ended before any new byte came.
    package private(set) var endedEarly = false
    /// Whether there is nothing left to ask for.
    package private(set) var areAnswered = false

    /// - Parameter fetch: what is known of the file.
    package init(_ fetch: Fetch) { goal = fetch.firstAsk }

    /// Returns the bytes before the resume point that an answer must repeat; nil where no proof is
    /// needed, and where its samples are already chosen.
    package func overlap(in fetch: Fetch) -> ByteRange? {
        guard samples == nil, case .overlap(let start, let end, _) = goal, isOpen(in: fetch) else {
            return nil
        }
        return ByteRange(from: start, to: end)
    }

    private func isOpen(in fetch: Fetch) -> Bool {
        !fetch.content.hasEqualSamples || fetch.isAskingForTags
    }

    /// Asks for the whole file, because the overlap would prove nothing.
    package mutating func askForAll() { goal = .whole }

    /// Returns the next request.
    ///
    /// - Parameters:
    ///   - fetch: what is known of the file.
    ///   - generator: chooses the samples.
    /// - Returns: the request; nil where nothing is left to ask, and after too many answers without
    ///   new bytes.
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

    /// Takes the answer to the last request.
    ///
    /// - Parameters:
    ///   - answer: how the request ended.
    ///   - fetch: what is known of the file.
    /// - Returns: whether the answer brought new bytes or an equal sample.
    @discardableResult
    package mutating func take(_ answer: Answer, _ fetch: inout Fetch) -> Bool {
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
            goal = fetch.firstAsk
            // A server that brings new bytes with each answer may give any number of answers.
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
