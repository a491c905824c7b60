// SPDX-License-Identifier: Apache-2.0

/// What to ask a source for after an answer that was of no use, until an answer is.
///
/// The host may refuse the next request, because it still counts the connection of that answer.
/// The next attempt then does not ask for the useless answer again.
struct Wish: Hashable, Sendable {
    /// Nil where there is no wish.
    private(set) var ask: Ask?
    private var source = ""
    /// What is known of the file since that answer.
    private var version = RemoteVersion()
    /// How many samples this attempt got, and from which source; how many attempts in a row were
    /// refused after the first one.
    private var (samples, sampled, fruitlessSamples) = (0, "", 0)
    /// After this many the file is compared while one answer brings it: a host that allows one
    /// connection refuses each question after the first one.
    private static let mostFruitless = 3

    /// Takes the judgement of an answer from a source.
    mutating func take(_ judgement: Judgement, from source: String) {
        switch judgement {
        case .askAgain(let ask, let version):
            (self.ask, self.source, self.version) = (ask, source, version)
        case .begin, .resume, .compare, .prove, .complete: self = Wish()
        // A sample is asked for before the wish.
        case .check: (samples, sampled) = (samples + 1, source)
        case .redirect, .fail: break
        }
    }

    /// Takes note of how an attempt has ended.
    mutating func attemptEnded(_ failure: Failure?) {
        defer { samples = 0 }
        guard let failure, failure.code.isOfSource, samples > 0 else { return }
        fruitlessSamples = samples == 1 ? fruitlessSamples + 1 : 0
        guard fruitlessSamples >= Self.mostFruitless, ask == nil else { return }
        (ask, source) = (.whole, sampled)
    }

    /// Returns what is known of the file at a source, with what that answer showed of its host.
    func noted(in known: RemoteVersion, of source: String) -> RemoteVersion {
        guard ask != nil, source == self.source else { return known }
        var known = version.refusesRanges ? known.withoutRanges : known
        known.dislikesIfRange = known.dislikesIfRange || version.dislikesIfRange
        return known
    }

    /// Returns the first request to a source, which would be `usual` without a wish.
    func first(_ usual: Ask, of source: String, onDisk: Content) -> Ask {
        guard source == self.source else { return usual }
        return switch ask {
        case .whole: .whole
        case .rest, .part: usual.unconditional
        case .overlap, .sample, .ending:
            .proof(for: onDisk.stored, upTo: onDisk.known.total ?? 0)
        case nil: usual
        }
    }
}
