// SPDX-License-Identifier: Apache-2.0

import Executors
import Logging
import iDownData
import iDownState
import iDownloader

// Tasks that wait for room on a disk.
extension Coordinator {
    /// A full disk is looked at again so often while a task waits for it, and never otherwise.
    package static let spaceInterval: Duration = .seconds(10)

    /// Looks after the disk that a task waits for.
    func noteSpaceHold(of record: TaskRecord) {
        guard !isStopping else { return }
        let directory = record.request.directory
        if spaceMeasures[directory] == nil {
            spaceMeasures[directory] = Task {
                await measure([directory])
                spaceMeasures[directory] = nil
            }
        }
        hasNewSpaceHold = true
        guard spaceWatch == nil else { return }
        spaceWatch = Task {
            while (try? await time.sleep(for: spaceInterval)) != nil, await isSpaceWanted() {}
            fullDirectories = []
            spaceWatch = nil
            // Those that were passed over for the full disk, and never held.
            fillSlots()
        }
    }

    /// Lets go on whoever fits, and says whether anybody still waits.
    private func isSpaceWanted() async -> Bool {
        hasNewSpaceHold = false
        guard let waiting = await spaceWaiters() else { return true }
        let (measured, silent) = await measure(
            fullDirectories.union(waiting.map(\.request.directory))
        )
        let free = Dictionary(measured.values.map { ($0.device, $0.bytes) }) { min($0, $1) }
        // On a disk that does not answer they would only hang, and keep others' slots.
        let askable = waiting.filter { !silent.contains($0.request.directory) }
        let waiters = askable.map { record in
            SpacePolicy.Waiter(
                id: record.id,
                // A folder that cannot be looked at: the transfer says what is wrong with it.
                device: measured[record.request.directory]?.device ?? .max,
                neededSpace: record.failure?.neededSpace ?? 0
            )
        }
        let released = SpacePolicy.released(waiters, free: free)
        if !released.isEmpty {
            log.notice("there is room again for \(released.count) tasks")
            await release { _ in released }
        }
        return released.count < waiting.count || hasNewSpaceHold
    }

    /// Nil where the list cannot be read for now.
    private func spaceWaiters() async -> [TaskRecord]? {
        try? await store.read { snapshot throws(StoreFailure) in
            try snapshot.held(by: .space).compactMap { try? snapshot.task($0) }
        }
    }

    /// Asks what is free, and takes note of the folders where not even the reserve is left:
    /// nothing new starts there, until a later look finds room again.
    ///
    /// - Returns: what is free, where it can be told; and the folders whose disk does not answer.
    @discardableResult
    private func measure(
        _ directories: Set<String>
    ) async -> (free: [String: (device: UInt64, bytes: Int64)], silent: Set<String>) {
        var measured: [String: (device: UInt64, bytes: Int64)] = [:]
        var silent: Set<String> = []
        var silentDevices: Set<UInt64> = []
        var hasRoomAgain = false
        let engine = engine
        for directory in directories {
            let device = engine.disk.fileSystem(of: directory) ?? 0
            let found =
                silentDevices.contains(device)
                ? nil
                : await look(in: directory, Self.longestLook) {
                    await engine.freeSpace(in: directory)
                }
            guard let space = found else {
                silentDevices.insert(device)
                silent.insert(directory)
                continue
            }
            measured[directory] = space
            if let space, space.bytes < SpacePolicy.reserve {
                fullDirectories.insert(directory)
            } else if fullDirectories.remove(directory) != nil {
                hasRoomAgain = true
            }
        }
        // Those that were passed over for it, and never held, hear of it by nothing else.
        if hasRoomAgain { fillSlots() }
        return (measured, silent)
    }
}
