// SPDX-License-Identifier: Apache-2.0

import Executors
import Logging
import iDownData
import iDownState
import iDownloader

/// Releases tasks that wait for disk space once there is enough.
final class SpaceWatch {
    /// Folders with less free space than the reserve: no new task starts there.
    private(set) var fullDirectories: Set<String> = []
    /// The time between two looks at a full disk while a task waits for it.
    private let interval: Duration
    /// Looks at full disks at that interval; nil while no task waits for a disk.
    private(set) var watch: Task<Void, Never>?
    private var hasNewHold = false
    private(set) var measures: [String: Task<Void, Never>] = [:]

    init(interval: Duration) { self.interval = interval }

    /// Watches the disk that a task waits for.
    func noteHold(of record: TaskRecord, in coordinator: isolated Coordinator) {
        guard !coordinator.isStopping else { return }
        let directory = record.request.directory
        if measures[directory] == nil {
            measures[directory] = Task {
                let hasRoomAgain = await measure([directory], in: coordinator).hasRoomAgain
                measures[directory] = nil
                // An earlier look kept the task from starting.
                if hasRoomAgain { await letGo(in: coordinator) }
            }
        }
        hasNewHold = true
        guard watch == nil else { return }
        watch = Task {
            repeat {
                guard (try? await coordinator.time.sleep(for: interval)) != nil else { break }
                hasNewHold = false
            } while await letGo(in: coordinator) || hasNewHold
            fullDirectories = []
            watch = nil
            // Tasks that were passed over because of the full disk, but never held, may start now.
            coordinator.fillSlots()
        }
    }

    /// Notes that a folder has no room.
    func noteFull(_ directory: String) { fullDirectories.insert(directory) }

    func stop() { watch?.cancel() }

    /// Releases the held tasks that fit.
    ///
    /// - Returns: whether any task still waits.
    @discardableResult
    private func letGo(in coordinator: isolated Coordinator) async -> Bool {
        let held = try? await coordinator.store.read { snapshot in
            try snapshot.held(by: .space).compactMap { try? snapshot.task($0) }
        }
        // The list cannot be read now: look again later.
        guard let held else { return true }
        let directories = fullDirectories.union(held.map(\.request.directory))
        let (measured, stuck, _) = await measure(directories, in: coordinator)
        // Tasks on a disk that does not answer would only hang, and take slots from others.
        let askable = held.filter { !stuck.contains($0.request.directory) }
        let released = SpacePolicy.released(askable, into: measured)
        if !released.isEmpty {
            coordinator.log.notice("there is room again for \(released.count) tasks")
            await coordinator.holds.settle(in: coordinator) { _, _ in
                released.map { ($0, .released) }
            }
        }
        return released.count < held.count
    }

    /// Measures free space, and updates the folders with less than the reserve.
    ///
    /// - Returns: the free space of the folders where it is known, the folders whose disk does not
    ///   answer, and whether one that was full is not any more.
    private func measure(
        _ directories: Set<String>,
        in coordinator: isolated Coordinator
    ) async -> (
        free: [String: (device: UInt64, bytes: Int64)], stuck: Set<String>, hasRoomAgain: Bool
    ) {
        var measured: [String: (device: UInt64, bytes: Int64)] = [:]
        var stuck: Set<String> = []
        var stuckDevices: Set<UInt64> = []
        var hasRoomAgain = false
        let engine = coordinator.engine
        for directory in directories {
            let device = engine.disk.fileSystem(of: directory) ?? 0
            let found =
                stuckDevices.contains(device)
                ? nil
                : await engine.look(in: directory) { await engine.freeSpace(in: directory) }
            guard let space = found else {
                stuckDevices.insert(device)
                stuck.insert(directory)
                continue
            }
            measured[directory] = space
            if let space, space.bytes < SpacePolicy.reserve {
                noteFull(directory)
            } else if fullDirectories.remove(directory) != nil {
                hasRoomAgain = true
            }
        }
        // Tasks that were passed over for lack of room, but never held, get no other notice of it.
        if hasRoomAgain { coordinator.fillSlots() }
        return (measured, stuck, hasRoomAgain)
    }
}
