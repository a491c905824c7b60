// SPDX-License-Identifier: Apache-2.0

import Curl
import Synchronization
package import iDownState

/// What the attempts of a task have found out about its sources.
///
/// Kept while the service runs, until the task is over: else each attempt would begin with a file
/// that is known to be a wrong one.
struct SourceFindings: Sendable {
    /// Those that have a file, and not the right one.
    var wrong: Set<URLReference> = []
    /// Several together have brought a wrong one: from now on each has to bring all of it.
    var areHeardAlone = false
    /// The one that all bytes on disk are from, or are equal to; nil where nobody knows.
    var owner: URLReference?
    /// How often one that is heard alone may still write over what another has brought.
    var turnsLeft = mostTurns
    private static let mostTurns = 4
    /// Those that servers have named: one that is not asked any more names none.
    var mirrors: [URLReference] = []
    /// How far the furthest host was that has answered: who was named by it may not be nearer.
    var reach: SocketAddress.Reach?
    /// What is known of the tags that the sources give.
    var tags = TagEvidence()
    /// Where the validators on record come from; nil where nobody knows.
    var validators: ValidatorOrigin?
    /// The client's URL that they were made with.
    var home: URLReference?

    /// A source, and the host that answered for it: a redirect may lead to another one.
    struct ValidatorOrigin: Hashable, Sendable {
        let source: URLReference
        let host: URLReference.Origin
    }

    /// What of them the next attempt needs; nil where it would go the same way without them.
    var ofUse: SourceFindings? {
        if haveDoubts || !mirrors.isEmpty { return self }
        guard validators != nil || tags.givenUp > 0 else { return nil }
        var findings = SourceFindings()
        (findings.tags, findings.validators, findings.home) = (tags, validators, home)
        return findings
    }

    /// Whether some source is not trusted.
    var haveDoubts: Bool { !wrong.isEmpty || areHeardAlone }

    /// Every source is trusted again.
    mutating func trustAll() {
        wrong = []
        areHeardAlone = false
        renewTurns()
    }

    /// Somebody wants a try: each may have its turn again.
    mutating func renewTurns() { turnsLeft = Self.mostTurns }

    mutating func takeTurn() { turnsLeft = max(0, turnsLeft - 1) }

    /// What of them counts where the client's URL may be another: a fresh link is asked, whatever it
    /// has brought before, and what its predecessor has named says nothing.
    func made(with home: URLReference) -> SourceFindings {
        guard let before = self.home, before != home else { return self }
        var findings = self
        findings.wrong.remove(home)
        findings.mirrors = []
        findings.reach = nil
        findings.tags = TagEvidence()
        findings.renewTurns()
        return findings
    }
}

extension Engine {
    /// What earlier attempts of a task have found out.
    func findings(on task: TaskID) -> SourceFindings {
        storedFindings.withLock { $0[task] } ?? SourceFindings()
    }

    /// Keeps them for the task's next attempt.
    func keep(_ findings: SourceFindings, on task: TaskID) {
        storedFindings.withLock { $0[task] = findings.ofUse }
    }

    /// The task is gone.
    package func forgetFindings(on task: TaskID) {
        storedFindings.withLock { _ = $0.removeValue(forKey: task) }
    }
}
