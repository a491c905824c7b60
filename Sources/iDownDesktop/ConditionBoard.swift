// SPDX-License-Identifier: Apache-2.0

/// Draws together what the services say of the computer, and tells the host what has changed.
actor ConditionBoard {
    /// Who has something to say before the first start.
    enum Witness: Hashable, CaseIterable {
        case network, power, display, profile
    }

    private let host: any DesktopHost
    private var networkManager: NetworkStatus?
    private var portal: NetworkStatus?
    private var power = PowerStatus()
    /// Those of the two services of that kind that say that power is to be saved.
    private var savers: Set<String> = []
    private var told = DesktopConditions()
    private var isTelling = false
    private var missing = Set(Witness.allCases)
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// - Parameters:
    ///   - host: who is told.
    ///   - heedsPower: whether those who know of it are asked at the start.
    init(host: any DesktopHost, heedsPower: Bool) {
        self.host = host
        if !heedsPower { missing.subtract(Self.ofPower) }
    }

    private static let ofPower: [Witness] = [.power, .display, .profile]

    func take(networkManager status: NetworkStatus?) async {
        networkManager = status
        await tell()
        hear(.network)
    }

    func take(portal status: NetworkStatus?) async {
        portal = status
        await tell()
    }

    func change(_ witness: Witness, power change: (inout PowerStatus) -> Void) async {
        change(&power)
        await tell()
        hear(witness)
    }

    func take(saver name: String, isSaving: Bool) async {
        if isSaving { savers.insert(name) } else { savers.remove(name) }
        await tell()
        hear(.profile)
    }

    /// The system's services are gone, or were never there.
    func forgetSystem() async {
        networkManager = nil
        await forgetPower()
        hear(.network)
    }

    /// The services that know of power are gone, or are not asked any more.
    func forgetPower() async {
        power = PowerStatus()
        savers = []
        await tell()
        for witness in Self.ofPower { hear(witness) }
    }

    /// One after the other, so that the last that is told is the last that was so.
    private func tell() async {
        guard !isTelling else { return }
        isTelling = true
        while conditions != told {
            told = conditions
            await host.conditionsChanged(told)
        }
        isTelling = false
    }

    private var conditions: DesktopConditions {
        var conditions = DesktopConditions()
        let network = networkManager ?? portal ?? NetworkStatus()
        conditions.isCaptive = network.isCaptive
        conditions.isMetered = network.isMetered
        conditions.isBatteryLow = power.isBatteryLow || !savers.isEmpty
        return conditions
    }

    // MARK: The first look

    /// Returns once everybody has been heard who was asked at the start.
    func firstLook() async {
        guard !missing.isEmpty else { return }
        await withCheckedContinuation { waiters.append($0) }
    }

    private func hear(_ witness: Witness) {
        guard missing.remove(witness) != nil, missing.isEmpty else { return }
        endFirstLook()
    }

    /// Lets those go on who wait for it, whoever has not been heard.
    func endFirstLook() {
        missing = []
        for waiter in waiters { waiter.resume() }
        waiters = []
    }
}
