// SPDX-License-Identifier: Apache-2.0

package import DBus
package import iDownBus
import iDownData
import iDownState
import iDownloader

extension ManagerService {
    package var maxConcurrentDownloads: UInt32 {
        get async throws(ManagerError) { UInt32(clamping: settings.maxConcurrentDownloads) }
    }

    package func setMaxConcurrentDownloads(
        _ count: UInt32,
        call: Call
    ) async throws(ManagerError) {
        try await permit(call)
        let isNew = try await change(
            Contract.Property.maxConcurrentDownloads,
            .uint32(count)
        ) { $0.maxConcurrentDownloads = Int(count) }
        guard isNew else { return }
        await coordinator.setSlots(Int(count))
    }

    package var maxConnectionsPerDownload: UInt32 {
        get async throws(ManagerError) { UInt32(clamping: settings.maxConnectionsPerDownload) }
    }

    package func setMaxConnectionsPerDownload(
        _ count: UInt32,
        call: Call
    ) async throws(ManagerError) {
        try await permit(call)
        try await change(
            Contract.Property.maxConnectionsPerDownload,
            .uint32(count)
        ) { $0.maxConnectionsPerDownload = Int(count) }
        engine.connectionsPerDownload = Int(count)
    }

    package var speedLimit: UInt64 {
        get async throws(ManagerError) { UInt64(clamping: settings.speedLimit) }
    }

    package func setSpeedLimit(_ limit: UInt64, call: Call) async throws(ManagerError) {
        try await permit(call)
        try await change(Contract.Property.speedLimit, .uint64(limit)) {
            $0.speedLimit = Int64(clamping: limit)
        }
        engine.setSpeedLimit(settings.speedLimit)
    }

    package var downloadDirectory: String {
        get async throws(ManagerError) { directory }
    }

    package func setDownloadDirectory(_ path: String, call: Call) async throws(ManagerError) {
        try await permit(call)
        guard path.utf8.first == UInt8(ascii: "/") else {
            throw ManagerError(
                .invalidArguments,
                "DownloadDirectory must be an absolute path, one that starts with /."
            )
        }
        let folder = try await named { try await engine.prepareFolder(path, rules: rules) }
        try await change(Contract.Property.downloadDirectory, .string(folder)) {
            $0.downloadDirectory = folder
        }
    }

    package var holdOnMetered: Bool {
        get async throws(ManagerError) { settings.holdsOnMetered }
    }

    package func setHoldOnMetered(_ holds: Bool, call: Call) async throws(ManagerError) {
        try await permit(call)
        try await change(Contract.Property.holdOnMetered, .boolean(holds)) {
            $0.holdsOnMetered = holds
        }
        await coordinator.setHoldWishes(holdWishes)
    }

    package var holdOnLowBattery: Bool {
        get async throws(ManagerError) { settings.holdsOnLowBattery }
    }

    package func setHoldOnLowBattery(_ holds: Bool, call: Call) async throws(ManagerError) {
        try await permit(call)
        try await change(Contract.Property.holdOnLowBattery, .boolean(holds)) {
            $0.holdsOnLowBattery = holds
        }
        await coordinator.setHoldWishes(holdWishes)
    }

    package var keepCompleted: UInt32 {
        get async throws(ManagerError) { UInt32(clamping: settings.keepCompleted) }
    }

    package func setKeepCompleted(_ days: UInt32, call: Call) async throws(ManagerError) {
        try await permit(call)
        try await change(Contract.Property.keepCompleted, .uint32(days)) {
            $0.keepCompleted = Int(days)
        }
        await coordinator.keepCompleted(days: Int(days))
    }

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
