// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownState

@Suite struct SurroundingsTests {
    private static let far = Origin(scheme: "https", host: "far.example", port: 443)
    private static let here = Origin(scheme: "http", host: "127.0.0.1", port: 8080)

    private func obstacle(
        _ surroundings: Surroundings,
        _ origin: Origin? = far,
        hasFile: Bool = false
    ) -> Obstacle? {
        surroundings.obstacle(for: origin, directory: "/full", hasFile: hasFile)
    }

    @Test func `usually nothing is in the way`() {
        #expect(obstacle(Surroundings()) == nil)
        #expect(obstacle(Surroundings(), nil) == nil)
    }

    @Test func `without a network only this computer is asked, and all else ends`() {
        let offline = Surroundings(conditions: Conditions(isOnline: false))
        #expect(obstacle(offline) == .hold(.offline))
        #expect(obstacle(offline, nil) == .hold(.offline))
        #expect(obstacle(offline, Self.here) == nil)
        #expect(offline.interruption(for: Self.far) == .hold(.offline))
        #expect(offline.interruption(for: Self.here) == nil)
    }

    @Test func `a portal is as good as no network, and ends what runs`() {
        let captive = Surroundings(conditions: Conditions(isCaptive: true))
        #expect(obstacle(captive) == .hold(.offline))
        #expect(obstacle(captive, Self.here) == nil)
        #expect(captive.interruption(for: Self.far) == .hold(.offline))
        #expect(captive.interruption(for: Self.here) == nil)
        // Behind a proxy no portal answers in the place of hosts.
        let proxied = Surroundings(
            conditions: Conditions(isCaptive: true),
            holdSettings: HoldSettings(onPortal: false)
        )
        #expect(obstacle(proxied) == nil)
        #expect(proxied.lifted.contains(.offline))
    }

    @Test(arguments: [true, false])
    func `a meter holds other computers' files, if the user wants it so`(isWanted: Bool) {
        let metered = Surroundings(
            conditions: Conditions(isMetered: true),
            holdSettings: HoldSettings(onMetered: isWanted)
        )
        #expect(obstacle(metered) == (isWanted ? .hold(.metered) : nil))
        #expect(metered.interruption(for: Self.far) == (isWanted ? .hold(.metered) : nil))
        #expect(obstacle(metered, Self.here) == nil)
    }

    @Test(arguments: [true, false])
    func `a low battery holds everything, if the user wants it so`(isWanted: Bool) {
        let low = Surroundings(
            conditions: Conditions(isMetered: true, isBatteryLow: true),
            holdSettings: HoldSettings(onMetered: true, onLowBattery: isWanted)
        )
        #expect(obstacle(low) == (isWanted ? .hold(.battery) : .hold(.metered)))
        #expect(obstacle(low, Self.here) == (isWanted ? .hold(.battery) : nil))
    }

    @Test func `an unknown proxy holds everything, this computer and what runs included`() {
        let unknown = Surroundings(
            conditions: Conditions(isOnline: false, isBatteryLow: true),
            holdSettings: HoldSettings(onLowBattery: true, onSettings: "Proxy must be a URL")
        )
        for origin in [Self.far, Self.here, nil] {
            #expect(obstacle(unknown, origin) == .hold(.settings))
            #expect(unknown.interruption(for: origin) == .hold(.settings))
        }
        #expect(!unknown.lifted.contains(.settings))
    }

    @Test func `nobody waits for what is not in the way`() {
        #expect(Surroundings().lifted == [.offline, .metered, .battery, .settings])
        let all = Conditions(isOnline: false, isMetered: true, isBatteryLow: true)
        #expect(Surroundings(conditions: all).lifted == [.metered, .battery, .settings])
        let settings = HoldSettings(onMetered: true, onLowBattery: true, onSettings: "wrong")
        #expect(Surroundings(conditions: all, holdSettings: settings).lifted.isEmpty)
        let captive = Conditions(isCaptive: true)
        #expect(Surroundings(conditions: captive).lifted == [.metered, .battery, .settings])
    }

    @Test func `a host that rests holds its own tasks, on this computer too`() {
        let surroundings = Surroundings(rests: [Self.here: .seconds(3)])
        #expect(obstacle(surroundings, Self.here) == .hostRests(for: .seconds(3)))
        #expect(obstacle(surroundings) == nil)
    }

    @Test(arguments: [nil, 1, 5] as [Int64?])
    func `the first host of several that may be asked again ends the wait`(other: Int64?) {
        var surroundings = Surroundings(rests: [Self.here: .seconds(3)])
        surroundings.rests[Self.far] = other.map { .seconds($0) }
        let obstacle = surroundings.obstacle(
            for: Self.here,
            mirrors: [Self.far],
            directory: "/",
            hasFile: false
        )
        #expect(obstacle == other.map { .hostRests(for: .seconds(min($0, 3))) })
    }

    @Test func `a full disk holds what has no file there yet`() {
        let surroundings = Surroundings(fullDirectories: ["/full"])
        guard case .hold(.space, let failure?) = obstacle(surroundings) else {
            Issue.record("nothing is in the way")
            return
        }
        #expect(failure.code == .fileNoSpace)
        #expect(failure.neededSpace == SpacePolicy.reserve)
        // Its room may be reserved already.
        #expect(obstacle(surroundings, hasFile: true) == nil)
        let elsewhere = surroundings.obstacle(for: Self.far, directory: "/other", hasFile: false)
        #expect(elsewhere == nil)
    }

    @Test(
        arguments: [
            FailureCode.networkDNS, .networkUnreachable, .networkTimeout, .networkStalled,
            .networkReset, .networkTLS,
        ]
    )
    func `what a missing network explains is no failed try`(code: FailureCode) {
        let failure = Failure(code, "?", isTransient: true)
        let event = TransferEvent.failed(failure)
        #expect(event.whileOffline(from: Self.far) == .held(by: .hold(.offline, after: failure)))
        #expect(event.whileOffline(from: Self.here) == event)
    }

    @Test(
        arguments: [
            .failed(Failure(.serverBusy, "503", isTransient: true)),
            .failed(Failure(.networkTLS, "a certificate that is not to be trusted")),
            .failed(Failure(.fileNoSpace, "full", neededSpace: 1)),
            .checkpointed(SegmentMap()),
        ] as [TransferEvent]
    )
    func `a missing network explains no other event`(event: TransferEvent) {
        #expect(event.whileOffline(from: Self.far) == event)
    }
}
