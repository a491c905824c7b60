// SPDX-License-Identifier: Apache-2.0

/// What the computer, the network and the hosts allow at one moment, for all tasks.
package struct Surroundings: Sendable {
    package var conditions = Conditions(isOnline: true)
    package var holdSettings = HoldSettings()
    /// How long hosts still want to be left alone.
    package var rests: [Origin: Duration] = [:]
    /// Folders on file systems with less free space than the reserve.
    package var fullDirectories: Set<String> = []
    /// Tells whether the disk of a folder does not answer: no task starts there.
    package var isStuck: @Sendable (String) -> Bool = { _ in false }

    /// Returns what keeps a task from starting now.
    ///
    /// - Parameters:
    ///   - origin: the host of its first request; nil where its URL has none.
    ///   - mirrors: the hosts that it may ask while that one rests.
    ///   - directory: the folder of its file.
    ///   - hasFile: whether there is a partial file, which may have its space reserved already:
    ///     then the transfer itself checks the space.
    ///   - hasBegun: whether its transfer has begun already, so that the host's wish for a rest comes
    ///     too late.
    /// - Returns: the obstacle; nil where nothing keeps the task from starting.
    package func obstacle(
        for origin: Origin?,
        mirrors: [Origin] = [],
        directory: String,
        hasFile: Bool,
        hasBegun: Bool = false
    ) -> Obstacle? {
        if let obstacle = interruption(for: origin) { return obstacle }
        // The first host that may be asked again ends the wait.
        let rest = ([origin] + mirrors).map { $0.flatMap { rests[$0] } ?? .zero }.min() ?? .zero
        if !hasBegun, rest > .zero { return .hostRests(for: rest) }
        guard !hasFile, fullDirectories.contains(directory) else { return nil }
        let failure = Failure(.fileNoSpace, "The disk is full.", neededSpace: SpacePolicy.reserve)
        return .hold(.space, after: failure)
    }

    /// Returns what has to end even a running transfer; nil where nothing does.
    ///
    /// A lost network ends it, because silence would show only after a minute and cost a try. So
    /// does a captive portal, whose page must not be taken for the file. While the proxy is
    /// unknown, not even this computer is asked: its servers may be meant to be reached through the
    /// proxy.
    package func interruption(for origin: Origin?) -> Obstacle? {
        if holdSettings.onSettings != nil { return .hold(.settings) }
        if isBatteryInTheWay { return .hold(.battery) }
        guard origin?.isLoopback != true else { return nil }
        if !leadsOut { return .hold(.offline) }
        return isMeterInTheWay ? .hold(.metered) : nil
    }

    /// The holds that are over, except for those for disk space, which are tracked elsewhere.
    package var lifted: [Hold] {
        var lifted: [Hold] = []
        if leadsOut { lifted.append(.offline) }
        if !isMeterInTheWay { lifted.append(.metered) }
        if !isBatteryInTheWay { lifted.append(.battery) }
        if holdSettings.onSettings == nil { lifted.append(.settings) }
        return lifted
    }

    /// Whether other computers can be reached.
    package var leadsOut: Bool {
        conditions.isOnline && !(conditions.isCaptive && holdSettings.onPortal)
    }

    private var isMeterInTheWay: Bool { conditions.isMetered && holdSettings.onMetered }
    private var isBatteryInTheWay: Bool { conditions.isBatteryLow && holdSettings.onLowBattery }
}

extension Surroundings {
    /// Makes surroundings in which only these conditions may keep tasks from starting.
    package init(conditions: Conditions) { self.init(conditions: conditions, rests: [:]) }
}

extension TransferEvent {
    /// Returns the event to record while there is no network: a transient network failure becomes a
    /// hold, because it is not the task's failure.
    package func whileOffline(from origin: Origin?) -> TransferEvent {
        guard case .failed(let failure) = self, failure.code.isOfNetwork, failure.isTransient,
            origin?.isLoopback != true
        else { return self }
        return .held(by: .hold(.offline, after: failure))
    }
}
