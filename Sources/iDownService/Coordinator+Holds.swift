// SPDX-License-Identifier: Apache-2.0

import Logging
import iDownData
import iDownState
import iDownloader

// What waits for the world: the network, a host, room on a disk.
extension Coordinator {
    /// What may start at this moment.
    var surroundings: @Sendable () -> Surroundings {
        let (engine, isOnline, fullDirectories) = (engine, isOnline, fullDirectories)
        return {
            Surroundings(
                isOnline: isOnline,
                rests: engine.rests.all,
                fullDirectories: fullDirectories
            )
        }
    }

    // MARK: The network

    /// Whoever knows of the network tells each change.
    ///
    /// Transfers that run are left alone: they fail by themselves if the network stays away.
    package func setOnline(_ isOnline: Bool) {
        guard isOnline != self.isOnline else { return }
        self.isOnline = isOnline
        log.notice(isOnline ? "the network is back" : "there is no network")
        networkReturn?.cancel()
        guard isOnline else { return }
        networkReturn = Task {
            await release { transaction in try transaction.held(by: .offline) }
            fillSlots()
        }
    }

    /// Lets tasks go on; while the store cannot be written, again and again.
    func release(_ ids: @escaping @Sendable (Transaction) throws -> [TaskID]) async {
        while !isStopping, !Task.isCancelled {
            let now = WallTime.now
            do {
                return try await commit { transaction in
                    let changes = try ids(transaction).flatMap { id in
                        try transaction.changeIfReadable(id) {
                            $0.apply(.released, at: now, jitter: 0)
                        }
                    }
                    return ((), changes)
                }
            } catch {
                log.error("tasks that may go on could not be recorded yet: \(error)")
            }
            try? await Task.sleep(for: Self.storeRetryInterval)
        }
    }
}
