// SPDX-License-Identifier: Apache-2.0

/// The request that follows an answer of no use; it stays until an answer is of use.
///
/// The host may refuse the request, because it still counts the connection of the useless answer.
/// The next attempt then begins with this request, and does not get the useless answer again.
struct FollowUp: Hashable, Sendable {
    /// Nil where the last answer was of use, and before the first.
    private(set) var ask: Ask?
    private var source = ""
    /// What is known of the file since that answer.
    private var version = RemoteVersion()
    /// How many samples this attempt got.
    private var samples = 0
    /// The source of the last sample.
    private var sampledSource = ""
    /// How many attempts in a row were refused after their first sample.
    private var refusedAttempts = 0
    /// After this many refused attempts one answer brings the whole file, which is compared
    /// meanwhile: a host that allows one connection refuses each request after the first one.
    private static let mostRefused = 3

    /// Takes the judgement of an answer from a source.
    mutating func take(_ judgement: Judgement, from source: String) {
        switch judgement {
        case .askAgain(let ask, let version):
            (self.ask, self.source, self.version) = (ask, source, version)
        case .begin, .resume, .compare, .prove, .complete: self = FollowUp()
        // Samples are asked for before the follow-up.
        case .check: (samples, sampledSource) = (samples + 1, source)
        case .redirect, .fail: break
        }
    }

    /// Takes note of how an attempt has ended.
    mutating func attemptEnded(_ failure: Failure?) {
        defer { samples = 0 }
        guard let failure, failure.code.isOfSource, samples > 0 else { return }
        refusedAttempts = samples == 1 ? refusedAttempts + 1 : 0
        guard refusedAttempts >= Self.mostRefused, ask == nil else { return }
        (ask, source) = (.whole, sampledSource)
    }

    /// Returns what is known of the file at a source, with what that answer showed of its host.
    func noted(in known: RemoteVersion, of source: String) -> RemoteVersion {
        guard ask != nil, source == self.source else { return known }
        var known = version.refusesRanges ? known.withoutRanges : known
        known.dislikesIfRange = known.dislikesIfRange || version.dislikesIfRange
        return known
    }

    /// Returns the first request to a source, which would be `usual` without a follow-up.
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
