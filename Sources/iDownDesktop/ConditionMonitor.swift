// SPDX-License-Identifier: Apache-2.0

/// Combines what the desktop's services report about the computer, and passes each change on to the
/// host.
actor ConditionMonitor {
    /// The services that are asked before the first download may start.
    enum Source: Hashable, CaseIterable {
        case network, portal, power, display, profile
    }

    private let host: any DesktopHost
    private var networkManager: NetworkStatus?
    private var portal: NetworkStatus?
    private var power = PowerStatus()
    /// The power profile services (there are two, an old and a new one) whose profile is
    /// "power-saver".
    private var powerSaverServices: Set<String> = []
    private var lastReported = DesktopConditions()
    private var isReporting = false
    private var pendingSources = Set(Source.allCases)
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// - Parameters:
    ///   - host: receives the conditions.
    ///   - holdsOnLowBattery: whether the power services are asked too.
    ///   - hasSession: whether there is a session bus, on which the portal may be.
    init(host: any DesktopHost, holdsOnLowBattery: Bool, hasSession: Bool) {
        self.host = host
        if !hasSession { pendingSources.remove(.portal) }
        if !holdsOnLowBattery { pendingSources.subtract(Self.powerSources) }
    }

    private static let powerSources: [Source] = [.power, .display, .profile]

    func update(networkManager status: NetworkStatus?) async {
        networkManager = status
        await report()
        markReported(.network)
    }

    func update(portal status: NetworkStatus?) async {
        portal = status
        await report()
        markReported(.portal)
    }

    func updatePower(_ source: Source, _ change: (inout PowerStatus) -> Void) async {
        change(&power)
        await report()
        markReported(source)
    }

    func update(powerSaverService name: String, isSaving: Bool) async {
        if isSaving { powerSaverServices.insert(name) } else { powerSaverServices.remove(name) }
        await report()
        markReported(.profile)
    }

    /// Forgets what the services of the system bus reported: that bus is gone, or was never there.
    func forgetSystemServices() async {
        networkManager = nil
        await forgetPower()
        markReported(.network)
    }

    /// Forgets the battery and the power profile: their services are gone, or no longer asked.
    func forgetPower() async {
        power = PowerStatus()
        powerSaverServices = []
        await report()
        for source in Self.powerSources { markReported(source) }
    }

    /// Reports the conditions until the host has the current ones.
    ///
    /// Only one report runs at a time, so that the host gets them in order.
    private func report() async {
        guard !isReporting else { return }
        isReporting = true
        while conditions != lastReported {
            lastReported = conditions
            await host.conditionsChanged(lastReported)
        }
        isReporting = false
    }

    private var conditions: DesktopConditions {
        var conditions = DesktopConditions()
        let network = networkManager ?? portal ?? NetworkStatus()
        conditions.isCaptive = network.isCaptive
        conditions.isMetered = network.isMetered
        conditions.isBatteryLow = power.isBatteryLow || !powerSaverServices.isEmpty
        return conditions
    }

    // MARK: Initial conditions

    /// Returns once every service that is asked at the start has reported, or is known to be
    /// missing.
    func waitForInitialConditions() async {
        guard !pendingSources.isEmpty else { return }
        await withCheckedContinuation { waiters.append($0) }
    }

    private func markReported(_ source: Source) {
        guard pendingSources.remove(source) != nil, pendingSources.isEmpty else { return }
        stopWaitingForInitialConditions()
    }

    /// Ends the wait for the initial conditions, even if a service has not reported yet.
    func stopWaitingForInitialConditions() {
        pendingSources = []
        for waiter in waiters { waiter.resume() }
        waiters = []
    }
}
