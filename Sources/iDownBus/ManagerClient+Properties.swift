// SPDX-License-Identifier: Apache-2.0

extension ManagerClient {
    private typealias Name = Contract.Property

    /// Returns the version of the service; asking for it starts the service.
    public func version() async throws(ManagerError) -> String {
        try await get(Name.version)
    }

    /// Returns how many tasks may download at once.
    public func maxConcurrentDownloads() async throws(ManagerError) -> UInt32 {
        try await get(Name.maxConcurrentDownloads)
    }

    /// Sets how many tasks may download at once, within ``Contract/concurrentDownloads``.
    public func setMaxConcurrentDownloads(_ count: UInt32) async throws(ManagerError) {
        try await set(Name.maxConcurrentDownloads, to: count)
    }

    /// Returns how many connections a task may open unless it has its own limit.
    public func maxConnectionsPerDownload() async throws(ManagerError) -> UInt32 {
        try await get(Name.maxConnectionsPerDownload)
    }

    /// Sets how many connections a task may open unless it has its own limit, within
    /// ``Contract/connections``.
    public func setMaxConnectionsPerDownload(_ count: UInt32) async throws(ManagerError) {
        try await set(Name.maxConnectionsPerDownload, to: count)
    }

    /// Returns the speed limit of all tasks together, in bytes per second; 0 means no limit.
    public func speedLimit() async throws(ManagerError) -> UInt64 {
        try await get(Name.speedLimit)
    }

    /// Sets the speed limit of all tasks together, in bytes per second; 0 means no limit.
    public func setSpeedLimit(_ limit: UInt64) async throws(ManagerError) {
        try await set(Name.speedLimit, to: limit)
    }

    /// Returns the folder for downloads that name no folder.
    public func downloadDirectory() async throws(ManagerError) -> String {
        try await get(Name.downloadDirectory)
    }

    /// Sets the folder for downloads that name no folder, as an absolute path.
    ///
    /// - Throws: `InvalidArgs` for a relative path; `InvalidDestination` for a folder that is not
    ///   allowed.
    public func setDownloadDirectory(_ path: String) async throws(ManagerError) {
        try await set(Name.downloadDirectory, to: path)
    }

    /// Returns whether downloads wait while the network is metered.
    public func holdOnMetered() async throws(ManagerError) -> Bool {
        try await get(Name.holdOnMetered)
    }

    /// Sets whether downloads wait while the network is metered.
    public func setHoldOnMetered(_ holds: Bool) async throws(ManagerError) {
        try await set(Name.holdOnMetered, to: holds)
    }

    /// Returns whether downloads wait while the battery is low.
    public func holdOnLowBattery() async throws(ManagerError) -> Bool {
        try await get(Name.holdOnLowBattery)
    }

    /// Sets whether downloads wait while the battery is low.
    public func setHoldOnLowBattery(_ holds: Bool) async throws(ManagerError) {
        try await set(Name.holdOnLowBattery, to: holds)
    }

    /// Returns how many days a completed task stays in the list; 0 means forever.
    public func keepCompleted() async throws(ManagerError) -> UInt32 {
        try await get(Name.keepCompleted)
    }

    /// Sets how many days a completed task stays in the list; 0 means forever.
    public func setKeepCompleted(_ days: UInt32) async throws(ManagerError) {
        try await set(Name.keepCompleted, to: days)
    }

    /// Returns how many tasks are in the list.
    public func taskCount() async throws(ManagerError) -> UInt32 {
        try await get(Name.taskCount)
    }

    /// Returns how many tasks are waiting.
    public func waitingCount() async throws(ManagerError) -> UInt32 {
        try await get(Name.waitingCount)
    }

    /// Returns how many tasks are downloading.
    public func activeCount() async throws(ManagerError) -> UInt32 {
        try await get(Name.activeCount)
    }

    /// Returns the speed of all tasks together, in bytes per second.
    public func speed() async throws(ManagerError) -> UInt64 {
        try await get(Name.speed)
    }
}
