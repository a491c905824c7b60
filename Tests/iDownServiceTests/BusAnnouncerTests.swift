// SPDX-License-Identifier: Apache-2.0

import DBus
import Logging
import Testing
import iDownBus
import iDownData
import iDownState
import iDownTesting

@testable import iDownService

@Suite struct BusAnnouncerTests {
    private struct Scene {
        let announcer: BusAnnouncer
        let signals: SignalLog

        /// The manager's own signals so far, once `count` of them have come.
        func events(_ count: Int) async throws -> [ManagerEvent] {
            while true {
                let mark = signals.count
                let events = signals.signals.prefix(mark)
                    .filter { $0.interface == Contract.managerInterface }
                    .compactMap { ManagerEvent($0.member, $0.arguments) }
                if events.count >= count { return events }
                try await signals.first(after: mark, "\(count) signals") { _ in true }
            }
        }
    }

    private func withScene(_ body: (Scene) async throws -> Void) async throws {
        try await withPrivateBus { bus in
            let service = try await Connection.open(.address(bus.address))
            let client = try await Connection.open(.address(bus.address))
            let name = await service.uniqueName
            let signals = try await SignalLog(MatchRule(sender: name), on: client)
            let announcer = BusAnnouncer(connection: service, log: .quiet)
            try await body(Scene(announcer: announcer, signals: signals))
            await client.close()
            await service.close()
        }
    }

    private func live(_ bytes: Int64, connections: UInt32 = 1) -> LiveState {
        LiveState(
            bytes: bytes,
            bytesPerSecond: UInt64(bytes),
            activity: "transferring",
            connections: connections
        )
    }

    private func snapshot(
        _ live: LiveState? = nil,
        _ change: (inout TaskRecord) -> Void = { _ in }
    ) -> TaskSnapshot {
        let url = "http://me:SECRET@e.org/a?token=SECRET"
        return TaskSnapshot(record: .sample(url: url, change: change), live: live)
    }

    @Test func `whoever folds the signals has the task's last state`() async throws {
        try await withScene { scene in
            let waiting = snapshot()
            let started = snapshot { record in
                record.state = .downloading
                record.attempt = AttemptNumber(rawValue: 1)
            }
            let opened = snapshot(live(0)) { record in
                record = started.record
                record.remote.total = 100
                record.file = LocalFile(name: "a", device: 1, inode: 2)
            }
            let full = TaskSnapshot(record: opened.record, live: live(100))
            let done = snapshot { record in
                record = opened.record
                record.state = .completed
                record.segments = SegmentMap([ByteRange(first: 0, length: 100)].compactMap(\.self))
                record.integrity = .length
                record.finishedAt = .someTime
            }
            await scene.announcer.taskAdded(waiting)
            await scene.announcer.taskChanged(from: waiting, to: started)
            await scene.announcer.taskChanged(
                from: TaskSnapshot(record: started.record, live: live(0)),
                to: opened
            )
            await scene.announcer.taskChanged(from: full, to: done)
            let events = try await scene.events(4)
            #expect(fold(events) == TaskProperties(done).withoutQueries)
        }
    }

    /// What a client knows that takes over every change.
    private func fold(_ events: [ManagerEvent]) -> TaskProperties {
        events.reduce(TaskProperties()) { task, event in
            switch event {
            case .added(let task): return task
            case .changed(_, let state, let changed):
                var task = task.applying(changed)
                task.state = state
                return task
            case .removed: return task
            }
        }
    }

    @Test func `connections are told once they are open`() async throws {
        try await withScene { scene in
            guard let id = TaskID(rawValue: 1) else { return }
            let started = snapshot { $0.state = .downloading }
            let opened = snapshot(live(0)) { record in
                record.state = .downloading
                record.remote.total = 100
            }
            await scene.announcer.taskAdded(started)
            await scene.announcer.taskChanged(from: started, to: opened)
            await scene.announcer.taskProgressed(id, live(0), of: 100)
            let events = try await scene.events(3)
            #expect(fold(events).connections == 1)
        }
    }

    @Test func `progress is not told again when nothing has changed`() async throws {
        try await withScene { scene in
            guard let id = TaskID(rawValue: 1) else { return }
            await scene.announcer.taskProgressed(id, live(50), of: 100)
            await scene.announcer.taskProgressed(id, live(50), of: 100)
            await scene.announcer.taskProgressed(id, live(60), of: nil)
            await scene.announcer.taskRemoved(id)
            let events = try await scene.events(3)
            guard case .changed(_, .downloading, let first) = events[0],
                case .changed(_, _, let second) = events[1], case .removed = events[2]
            else {
                Issue.record("\(events)")
                return
            }
            #expect(first["DownloadedBytes"] == .uint64(50))
            #expect(first["Progress"] == .double(0.5))
            #expect(second["Progress"] == .double(-1))
            #expect(second["Activity"] == nil)
        }
    }

    @Test func `no secret is in any signal`() async throws {
        try await withScene { scene in
            let secret = snapshot { record in
                record.request.referrer = "http://me:SECRET@e.org/?SECRET"
                record.request.headers = [.init(name: "Authorization", value: "SECRET")]
            }
            let after = snapshot { record in
                record = secret.record
                record.state = .paused
                record.request.url = "http://me:SECRET@e.org/b?SECRET#SECRET"
            }
            await scene.announcer.taskAdded(secret)
            await scene.announcer.taskChanged(from: secret, to: after)
            _ = try await scene.events(2)
            for signal in scene.signals.signals {
                #expect(!"\(signal.arguments)".contains("SECRET"), "\(signal.arguments)")
            }
        }
    }

    @Test func `counts are properties of the manager, and told where they changed`() async throws {
        try await withScene { scene in
            var counts = TaskCounts()
            counts[.waiting] = 2
            await scene.announcer.countsChanged(counts)
            counts[.waiting] = 1
            counts[.downloading] = 1
            await scene.announcer.countsChanged(counts)
            await scene.announcer.countsChanged(counts)
            guard let id = TaskID(rawValue: 1) else { return }
            await scene.announcer.taskRemoved(id)
            _ = try await scene.events(1)
            let told = scene.signals.signals.filter { $0.member == "PropertiesChanged" }
            #expect(told.count == 2)
            let last = try [String: Value](busValue: try #require(told.last).arguments[1])
            #expect(last == ["WaitingCount": .uint32(1), "ActiveCount": .uint32(1)])
        }
    }

    @Test func `a bus that has gone away is no trouble`() async throws {
        try await withPrivateBus { bus in
            let service = try await Connection.open(.address(bus.address))
            let announcer = BusAnnouncer(connection: service, log: .quiet)
            await service.close()
            await announcer.taskAdded(snapshot())
            await announcer.countsChanged(TaskCounts())
            #expect(await !service.isOpen)
        }
    }
}
