// SPDX-License-Identifier: Apache-2.0

extension ManagerClient {
    private typealias Name = Contract.Property

    /// The service's version, for people.
    ///
    /// Asking for it starts the service.
    public func version() async throws(ManagerError) -> String {
        try await get(Name.version)
    }

    /// How many tasks download at once.
    public func maxConcurrentDownloads() async throws(ManagerError) -> UInt32 {
        try await get(Name.maxConcurrentDownloads)
    }

    /// Changes how many tasks download at once.
    public func setMaxConcurrentDownloads(_ count: UInt32) async throws(ManagerError) {
        try await set(Name.maxConcurrentDownloads, to: count)
    }

    /// How many connections a task may open that says nothing of its own.
    public func maxConnectionsPerDownload() async throws(ManagerError) -> UInt32 {
        try await get(Name.maxConnectionsPerDownload)
    }

    /// Changes how many connections a task may open that says nothing of its own.
    public func setMaxConnectionsPerDownload(_ count: UInt32) async throws(ManagerError) {
        try await set(Name.maxConnectionsPerDownload, to: count)
    }

    /// The most bytes per second over all tasks; 0 for no limit.
    public func speedLimit() async throws(ManagerError) -> UInt64 {
        try await get(Name.speedLimit)
    }

    /// Changes the most bytes per second over all tasks; 0 for no limit.
    public func setSpeedLimit(_ limit: UInt64) async throws(ManagerError) {
        try await set(Name.speedLimit, to: limit)
    }

    /// Where downloads go that name no folder.
    public func downloadDirectory() async throws(ManagerError) -> String {
        try await get(Name.downloadDirectory)
    }

    /// Changes where downloads go that name no folder.
    public func setDownloadDirectory(_ path: String) async throws(ManagerError) {
        try await set(Name.downloadDirectory, to: path)
    }

    /// Whether downloads wait for a network that is not metered.
    public func holdOnMetered() async throws(ManagerError) -> Bool {
        try await get(Name.holdOnMetered)
    }

    /// Changes whether downloads wait for a network that is not metered.
    public func setHoldOnMetered(_ holds: Bool) async throws(ManagerError) {
        try await set(Name.holdOnMetered, to: holds)
    }

    /// Whether downloads wait while the battery is low.
    public func holdOnLowBattery() async throws(ManagerError) -> Bool {
        try await get(Name.holdOnLowBattery)
    }

    /// Changes whether downloads wait while the battery is low.
    public func setHoldOnLowBattery(_ holds: Bool) async throws(ManagerError) {
        try await set(Name.holdOnLowBattery, to: holds)
    }

    /// How many days a completed task stays in the list; 0 is for ever.
    public func keepCompleted() async throws(ManagerError) -> UInt32 {
        try await get(Name.keepCompleted)
    }

    /// Changes how many days a completed task stays in the list; 0 is for ever.
    public func setKeepCompleted(_ days: UInt32) async throws(ManagerError) {
        try await set(Name.keepCompleted, to: days)
    }

    /// How many tasks are in the list.
    public func taskCount() async throws(ManagerError) -> UInt32 {
        try await get(Name.taskCount)
    }

    /// How many tasks wait.
    public func waitingCount() async throws(ManagerError) -> UInt32 {
        try await get(Name.waitingCount)
    }

    /// How many tasks download.
    public func activeCount() async throws(ManagerError) -> UInt32 {
        try await get(Name.activeCount)
    }

    /// Bytes per second over all tasks.
    public func speed() async throws(ManagerError) -> UInt64 {
        try await get(Name.speed)
    }
}
