// SPDX-License-Identifier: Apache-2.0

/// What the computer, the network and the hosts allow at one moment, whoever asks.
package struct Surroundings: Hashable, Sendable {
    /// False where there is no network at all.
    package var isOnline: Bool
    /// How long hosts are still to be left alone.
    package var rests: [Origin: Duration]
    /// Folders on file systems that have not even the reserve left.
    package var fullDirectories: Set<String>

    package init(
        isOnline: Bool = true,
        rests: [Origin: Duration] = [:],
        fullDirectories: Set<String> = []
    ) {
        self.isOnline = isOnline
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
        if !isOnline, origin?.isLoopback != true { return .offline(nil) }
        if let origin, let rest = rests[origin] { return .hostRests(for: rest) }
        guard !hasFile, fullDirectories.contains(directory) else { return nil }
        return .diskFull(
            Failure(.fileNoSpace, "the disk is full", neededSpace: SpacePolicy.reserve)
        )
    }
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
