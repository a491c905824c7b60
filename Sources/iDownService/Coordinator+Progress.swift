// SPDX-License-Identifier: Apache-2.0

import iDownData
import iDownState
import iDownloader

extension Coordinator {
    /// Progress is told at most this often (contract, TaskChanged).
    static let progressInterval: Duration = .milliseconds(500)
    /// Soon enough for eyes, and one signal for all that a script does at once.
    static let countDelay: Duration = .milliseconds(50)

    /// Tells of progress while anything runs, and sleeps without a wake-up otherwise.
    func transfersDidStart() {
        guard publisher == nil, !isStopping else { return }
        publisher = Task {
            while (try? await time.sleep(for: Self.progressInterval)) != nil, !running.isEmpty {
                await announceProgress()
            }
            publisher = nil
        }
    }

    func transfersDidEnd() {
        releaseStopIfDone()
    }

    private func announceProgress() async {
        let moment = Self.uptime
        for id in running.keys {
            // Looked up anew: while others were told, it may have ended.
            guard let transfer = running[id], !settled.contains(id) else { continue }
            meters[id]?.read(bytes: transfer.live.bytes, at: moment)
            let live = liveState(of: transfer, id)
            await announcer?.taskProgressed(id, live, of: transfer.live.total)
        }
    }
}

// MARK: Counts

extension Coordinator {
    /// Has the counts told soon: in a burst of changes not once for each.
    func countsDidChange() {
        countsAreStale = true
        guard countTeller == nil, !isStopping else { return }
        countTeller = Task {
            while countsAreStale, (try? await time.sleep(for: Self.countDelay)) != nil {
                countsAreStale = false
                guard let counts = try? await counts(), counts != toldCounts else { continue }
                toldCounts = counts
                await announcer?.countsChanged(counts)
            }
            countTeller = nil
        }
    }
}

// MARK: Idleness

extension Coordinator {
    /// Whether nothing runs and nothing waits, whatever for: its turn, its next try, the network,
    /// room on a disk.
    package var isIdle: Bool {
        get async {
            // A list that cannot be looked at may hold anything.
            guard let counts = try? await counts(), counts[.waiting] == 0 else { return false }
            return running.isEmpty && ahead.isEmpty && committer == nil
        }
    }
}
