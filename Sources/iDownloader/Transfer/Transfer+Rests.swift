// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

// A host that asked to be left alone is left alone, wherever a redirect leads from.
extension Transfer {
    func leaveAlone(_ hop: Hop) throws(TransferEnd) {
        let rest = engine.rests.remaining(of: Origin(hop.url), for: job.task)
        guard let rest else { return }
        throw .held(.hostRests(for: rest))
    }

    func noteRest(_ failure: Failure, at hop: Hop) {
        guard failure.isTransient, let wish = failure.retryAfter else { return }
        engine.rests.rest(Origin(hop.url), for: wish, toldTo: job.task)
    }

    /// Has it recorded that this attempt steps aside.
    ///
    /// - Returns: the failure to report instead where it could not be recorded.
    func stepAside(for obstacle: Obstacle) async -> Failure? {
        do throws(TransferEnd) {
            try await ledger.commit(.held(by: obstacle))
            return nil
        } catch {
            guard case .failed(let failure) = error else { return nil }
            return failure
        }
    }
}

extension Origin {
    init(_ url: URLReference) {
        self.init(scheme: url.scheme, host: url.host, port: url.effectivePort)
    }
}
