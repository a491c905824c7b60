// SPDX-License-Identifier: Apache-2.0

import Logging
import iDownData
import iDownState

extension Coordinator {
    /// Ends all transfers with a checkpoint, so that a battery that dies asleep costs nothing; what
    /// ran waits for a slot again.
    ///
    /// Returns once they are over, or after ``longestPause``: logind waits five seconds at first
    /// (logind.conf(5), InhibitDelayMaxSec), and a disk that hangs has no longer.
    package func fallAsleep() async {
        guard !isAsleep, !isStopping else { return }
        isAsleep = true
        log.info("the computer goes to sleep")
        do {
            try await commit { transaction in
                let changes = try transaction.running().flatMap { running in
                    try transaction.changeIfReadable(running.id) {
                        $0.apply(.displaced, at: .distantPast, jitter: 0)
                    }
                }
                return ((), changes)
            }
        } catch {
            log.error("the transfers could not be ended before the sleep: \(error)")
        }
        await withTaskGroup { group in
            for id in running.keys {
                group.addTask { await self.transferEnd(of: id) }
            }
        }
    }

    /// Goes on with fresh connections.
    package func awaken() {
        guard isAsleep else { return }
        isAsleep = false
        log.info("the computer is awake again")
        fillSlots()
    }
}
