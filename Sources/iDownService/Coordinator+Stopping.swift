// SPDX-License-Identifier: Apache-2.0

import iDownState
import iDownloader

extension Coordinator {
    /// What ending the transfers may cost; the rest of a second is for closing the list.
    static let stoppingTime: Duration = .milliseconds(700)

    /// Refuses what is new and ends all transfers, each with a checkpoint.
    ///
    /// What a slow disk has not synced in time stays out of the record and is fetched again.
    package func stop() async {
        guard !isStopping else { return }
        isStopping = true
        backOffTimer?.cancel()
        publisher?.cancel()
        adjuster?.cancel()
        spaceWatch?.cancel()
        for work in repeats.values { work.cancel() }
        releaseFileWaiters()
        endWaiters.endAll()
        clearer?.cancel()
        custody.keeper?.cancel()
        for transfer in running.values { transfer.stop() }
        for id in ahead.keys.sorted() { drop(id) }
        let deadline = Task {
            guard (try? await time.sleep(for: Self.stoppingTime)) != nil else { return }
            releaseStop()
        }
        // What is being committed is answered yet.
        let lastCommit = Task {
            await committer?.value
            releaseStopIfDone()
        }
        if !running.isEmpty || !ahead.isEmpty || committer != nil {
            await withCheckedContinuation {
                stopWaiter = $0
                releaseStopIfDone()
            }
        }
        deadline.cancel()
        lastCommit.cancel()
        keepHostNews()
        await hostKeeper?.value
    }

    /// Lets the stop go on once no transfer runs and no commit is under way.
    func releaseStopIfDone() {
        if running.isEmpty, ahead.isEmpty, committer == nil { releaseStop() }
    }

    private func releaseStop() {
        stopWaiter?.resume()
        stopWaiter = nil
    }
}
