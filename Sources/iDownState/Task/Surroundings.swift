// SPDX-License-Identifier: Apache-2.0

/// What the computer, the network and the hosts allow at one moment, whoever asks.
package struct Surroundings: Hashable, Sendable {
    package var conditions: Conditions
    package var wishes: HoldWishes
    /// How long hosts are still to be left alone.
    package var rests: [Origin: Duration]
    /// Folders on file systems that have not even the reserve left.
    package var fullDirectories: Set<String>

    package init(
        conditions: Conditions = Conditions(),
        wishes: HoldWishes = HoldWishes(),
        rests: [Origin: Duration] = [:],
        fullDirectories: Set<String> = []
    ) {
        self.conditions = conditions
        self.wishes = wishes
        self.rests = rests
        self.fullDirectories = fullDirectories
    }

    /// What keeps a task from starting now; nil where nothing does.
    ///
    /// - Parameters:
    ///   - origin: where its first request goes; nil where its URL is none.
    ///   - directory: where its file is to stand.
    ///   - hasFile: whether a partial file is there, which may have its room reserved already:
    ///     then the transfer itself looks whether there is enough.
    /// - Returns: the obstacle.
    package func obstacle(
        for origin: Origin?,
        directory: String,
        hasFile: Bool
    ) -> Obstacle? {
        if let obstacle = interruption(for: origin) { return obstacle }
        if let origin, let rest = rests[origin] { return .hostRests(for: rest) }
        guard !hasFile, fullDirectories.contains(directory) else { return nil }
        return .diskFull(
            Failure(.fileNoSpace, "The disk is full.", neededSpace: SpacePolicy.reserve)
        )
    }

    /// What ends also a transfer that runs; nil where nothing does.
    ///
    /// A network that is gone does: silence would tell only after a minute, and burn a try. A portal
    /// does too, for its page must not be taken for the file. Where the proxy is unknown, this
    /// computer is not asked either: its hosts may be meant to be reached through the proxy.
    package func interruption(for origin: Origin?) -> Obstacle? {
        if wishes.onSettings != nil { return .wrongSettings }
        if isBatteryInTheWay { return .batteryLow }
        guard origin?.isLoopback != true else { return nil }
        if !conditions.isOnline || conditions.isCaptive { return .offline(nil) }
        return isMeterInTheWay ? .metered : nil
    }

    /// The holds that nobody has to wait in any more; of those for room on a disk others know.
    package var lifted: [Hold] {
        var lifted: [Hold] = []
        if conditions.isOnline, !conditions.isCaptive { lifted.append(.offline) }
        if !isMeterInTheWay { lifted.append(.metered) }
        if !isBatteryInTheWay { lifted.append(.battery) }
        if wishes.onSettings == nil { lifted.append(.settings) }
        return lifted
    }

    private var isMeterInTheWay: Bool { conditions.isMetered && wishes.onMetered }
    private var isBatteryInTheWay: Bool { conditions.isBatteryLow && wishes.onLowBattery }
}

extension TransferEvent {
    /// The event as it is to be recorded while there is no network: what that explains is no
    /// failure of the task.
    package func whileOffline(from origin: Origin?) -> TransferEvent {
        guard case .failed(let failure) = self, failure.code.isOfNetwork, failure.isTransient,
            origin?.isLoopback != true
        else { return self }
        return .held(by: .offline(failure))
    }
}
