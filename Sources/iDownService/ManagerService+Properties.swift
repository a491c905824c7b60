// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownBus
import iDownData
import iDownState
import iDownloader

extension ManagerService {
    package var taskCount: UInt32 {
        get async throws(ManagerError) { UInt32(clamping: try await counts().total) }
    }

    package var waitingCount: UInt32 {
        get async throws(ManagerError) { UInt32(clamping: try await counts()[.waiting]) }
    }

    package var activeCount: UInt32 {
        get async throws(ManagerError) { UInt32(clamping: try await counts()[.downloading]) }
    }

    package var speed: UInt64 {
        get async throws(ManagerError) { await coordinator.speed }
    }

    private func counts() async throws(ManagerError) -> TaskCounts {
        try await named { try await coordinator.counts() }
    }
}
