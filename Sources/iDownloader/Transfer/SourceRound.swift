// SPDX-License-Identifier: Apache-2.0

import iDownState

/// The sources of one attempt, asked one after the other until one has brought the file or none
/// is left.
struct SourceRound {
    /// Why one of them has brought no file.
    struct Refusal {
        let failure: Failure
        /// It may well pass, and there are bytes to go on with.
        let hasHope: Bool
    }

    /// One of them wants to be left alone.
    struct Rest {
        let time: Duration
        let isHome: Bool
    }

    private(set) var refusals: [Refusal] = []
    private(set) var rest: Rest?
    /// Those that have failed since the last repair.
    private(set) var failed: Set<Int>
    /// Those that have had a wrong file before, and are not asked while another may yet have the
    /// right one.
    private var unheard: Set<Int>

    init(past wrong: Set<Int>) {
        failed = wrong
        unheard = wrong
    }

    /// All are asked once more, but those that are wrong.
    mutating func beginAnew(past wrong: Set<Int>) {
        failed = wrong
        unheard = wrong
    }

    /// All are asked once more: of each some pieces may be right.
    mutating func forgive() { failed = [] }

    mutating func add(_ refusal: Refusal) { refusals.append(refusal) }

    /// The first wish counts.
    mutating func add(_ wish: Rest) { rest = rest ?? wish }

    /// Goes on to the next source; false where none is left.
    mutating func goesOn(_ sources: inout Sources) -> Bool {
        failed.insert(sources.position)
        if sources.rotate(past: failed) { return true }
        guard rest == nil, !refusals.contains(where: \.hasHope) else { return false }
        failed.subtract(unheard)
        unheard = []
        return sources.rotate(past: failed)
    }

    /// How an attempt ends in which every source has failed, or wants to be left alone.
    func end(_ otherFile: Failure?) -> TransferEnd {
        let verdict = verdict(otherFile)
        // Whoever rests may still have the file. While home does, nobody counts how often its
        // mirrors fail; while a mirror does, home is tried again like any other.
        guard let rest, rest.isHome || !verdict.isTransient else { return .failed(verdict) }
        return .held(.hostRests(for: rest.time))
    }

    /// What to say where every source has failed: what may well pass, for those that are wrong are
    /// not asked again meanwhile; else that the file is not the right one, else what may pass, else
    /// that another file is all there is, unless a fresh link may give the right one, else what the
    /// client's own URL gave.
    private func verdict(_ otherFile: Failure?) -> Failure {
        if let hope = refusals.first(where: \.hasHope) { return hope.failure }
        let failures = refusals.map(\.failure)
        let refusal = failures.first {
            $0.code == .serverForbidden || $0.code == .serverAuthRequired
        }
        return failures.first { $0.code.spoilsContent } ?? failures.first(where: \.isTransient)
            ?? otherFile.map { refusal ?? $0 } ?? failures.first ?? .badResponse("contains no file")
    }
}
