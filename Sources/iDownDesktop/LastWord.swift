// SPDX-License-Identifier: Apache-2.0

import DBus

/// What came of asking a service what it has to say.
enum Finding<Word: Sendable>: Sendable {
    case said(Word)
    /// Nobody serves it, or whoever does knows nothing of it.
    case nobody
    /// No answer: somebody is slow, or just going.
    case silence

    /// What it means that the question was answered by an error.
    init(_ error: BusError) {
        self = error.isNoReply || error.isDisconnected ? .silence : .nobody
    }
}

/// What a service said last.
///
/// It stands while the service does not answer, and for a time after it has gone: a network is no
/// less metered because the one who knows of it is slow, or is being restarted.
struct LastWord<Word: Sendable> {
    typealias Instant = ContinuousClock.Instant

    /// It stands for so long without the service.
    let grace: Duration
    /// Nil where nothing was said, or whoever said it has been gone for too long.
    private(set) var word: Word?
    /// When to ask again although nothing tells of a change.
    private(set) var nextLook: Instant?
    private var goneSince: Instant?

    init(grace: Duration) { self.grace = grace }

    /// Whoever does not answer is asked again after this.
    var pause: Duration { grace / 6 }

    /// Takes note of what came of a question.
    ///
    /// - Returns: whether `word` is to be told now.
    mutating func take(_ finding: Finding<Word>, at now: Instant) -> Bool {
        nextLook = nil
        switch finding {
        case .said(let news):
            goneSince = nil
            word = news
        case .nobody:
            let since = goneSince ?? now
            goneSince = since
            if word != nil, now < since + grace {
                nextLook = since + grace
                return false
            }
            word = nil
        case .silence:
            nextLook = now + pause
            return false
        }
        return true
    }
}
