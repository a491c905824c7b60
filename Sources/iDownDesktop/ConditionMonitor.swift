// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownState

/// Combines what the desktop's services report about the computer, and passes each change on to the
/// host.
actor ConditionMonitor {
    /// The services that are asked before the first download may start.
    enum Source: Hashable, CaseIterable {
        case network, portal, power, display, profile
    }

    /// What the services last reported.
    struct Reports {
        var networkManager: NetworkStatus?
        var portal: NetworkStatus?
        var power = PowerStatus()
        /// The power profile services (there are two, an old and a new one) whose profile is
        /// "power-saver".
        var powerSaverServices: Set<BusName> = []

        var conditions: Conditions {
            var conditions = Conditions(isOnline: true)
            let network = networkManager ?? portal ?? NetworkStatus()
            conditions.isCaptive = network.isCaptive
            conditions.isMetered = network.isMetered
            conditions.isBatteryLow = power.isBatteryLow || !powerSaverServices.isEmpty
            return conditions
        }
    }

    private let host: any DesktopHost
    private var reports = Reports()
    private var lastReported = Conditions(isOnline: true)
    private var isReporting = false
    private var pendingSources = Set(Source.allCases)
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private var uncertain: [CheckedContinuation<Void, Never>] = []

    /// - Parameters:
    ///   - host: Receives the conditions.
    ///   - holdsOnLowBattery: Whether the power services are asked too.
    ///   - hasSession: Whether there is a session bus, on which the portal may be.
    init(host: any DesktopHost, holdsOnLowBattery: Bool, hasSession: Bool) {
        self.host = host
        if !hasSession { pendingSources.remove(.portal) }
        if !holdsOnLowBattery { pendingSources.subtract(Self.powerSources) }
    }

    private static let powerSources: [Source] = [.power, .display, .profile]

    /// Takes what a service reports.
    func update(_ source: Source, _ change: (inout Reports) -> Void) async {
        change(&reports)
        await report()
        markReported(source)
    }

    /// Forgets what the services of the system bus reported: that bus is gone, or was never there.
    func forgetSystemServices() async {
        reports.networkManager = nil
        await forgetPower()
        markReported(.network)
    }

    /// Forgets the battery and the power profile: their services are gone, or no longer asked.
    func forgetPower() async {
        reports.power = PowerStatus()
        reports.powerSaverServices = []
        await report()
        for source in Self.powerSources { markReported(source) }
    }

    /// Reports the conditions until the host has the current ones.
    ///
    /// Only one report runs at a time, so that the host gets them in order.
    private func report() async {
        guard !isReporting else { return }
        isReporting = true
        while reports.conditions != lastReported {
            lastReported = reports.conditions
            await host.conditionsChanged(lastReported)
        }
        isReporting = false
        // The host knows of a portal by now.
        if !isUncertain { wakeUncertain() }
    }

    // MARK: A new network

    private var isUncertain: Bool { reports.networkManager?.isUncertain == true }

    /// Returns once NetworkManager knows whether a captive portal is in the way, or is missing.
    func waitUntilCertain() async {
        // The end of a report that is under way wakes, too: the host may not know of a portal yet.
        guard isUncertain || isReporting else { return }
        await withCheckedContinuation { uncertain.append($0) }
    }

    private func wakeUncertain() {
        for waiter in uncertain { waiter.resume() }
        uncertain = []
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
