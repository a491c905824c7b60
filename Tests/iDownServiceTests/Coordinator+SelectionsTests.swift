// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownState
import iDownTesting

@testable import iDownData
@testable import iDownService

@Suite struct CoordinatorSelectionsTests {
    private func states(_ hub: Hub) async throws -> [TaskState.Kind] {
        try await hub.records.map(\.state.kind)
    }

    @Test func `a selection changes at once, and what cannot take the verb is passed over`()
        async throws
    {
        try await withHub(begins: false) { hub in
            var ids: [TaskID] = []
            for number in 1...4 { ids.append(try await hub.add("http://127.0.0.1:9/\(number)")) }
            try await hub.coordinator.carryOut(.cancel, on: ids[3])
            #expect(try await hub.coordinator.carryOut(.pause, on: ids + ids) == 3)
            #expect(try await states(hub) == [.paused, .paused, .paused, .cancelled])
            #expect(try await hub.coordinator.carryOut(.pause, on: ids) == 0)
            #expect(try await hub.coordinator.carryOut(.resume, on: [ids[0], ids[3]]) == 2)
            #expect(try await hub.coordinator.carryOut(.remove, on: [ids[1], ids[2]]) == 2)
            #expect(try await states(hub) == [.waiting, .waiting])
            #expect(try await hub.coordinator.carryOut(.cancel, on: []) == 0)
        }
    }

    @Test func `one unknown id refuses the whole call`() async throws {
        try await withHub(begins: false) { hub in
            let id = try await hub.add("http://127.0.0.1:9/a")
            let unknown = try #require(TaskID(rawValue: 99))
            await #expect(throws: ServiceRefusal.noSuchTask("99")) {
                try await hub.coordinator.carryOut(.pause, on: [id, unknown])
            }
            await #expect(throws: ServiceRefusal.noSuchTask("99")) {
                try await hub.coordinator.remove([id, unknown], trashingWith: hub.files)
            }
            #expect(try await states(hub) == [.waiting])
        }
    }

    @Test func `a priority is kept, told once, and counts for the next free slot`() async throws {
        let (file, hold) = ServedFile.held()
        let server = try FaultServer.serving(file)
        defer { server.stop() }
        try await withHub(slots: 1) { hub in
            let ids = [
                try await hub.add(server.url("/a")), try await hub.add(server.url("/b")),
                try await hub.add(server.url("/c")),
            ]
            await hold.reached.waitUntilOpen()
            let mark = hub.announced.all.count
            try await hub.coordinator.set(ids[2]) { $0.priority = 7 }
            try await hub.coordinator.set(ids[2]) { $0.priority = 7 }
            let told = hub.announced.all.dropFirst(mark).filter { $0.id == ids[2] }
            #expect(told.count == 1)
            #expect(try await hub.record(ids[2])?.priority == 7)
            #expect(try await hub.downloading == [ids[0]])
            try await hub.coordinator.carryOut(.cancel, on: ids[0])
            try await hub.announced.wait(for: ids[2], .downloading)
            hold.until.open()
            try await hub.announced.wait(for: ids[1], .completed)
        }
    }

    @Test func `finished files go to the trash, and no others`()
        async throws
    {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        try await withHub { hub in
            let ids = [try await hub.add(server.url("/a")), try await hub.add(server.url("/b"))]
            for id in ids { try await hub.announced.wait(for: id, .completed) }
            let home = hub.files + "/home"
            #expect(try await hub.coordinator.remove([ids[0]], trashingWith: home) == 1)
            #expect(hub.names == ["b", "home"])
            let kept = try? TestContent.small.firstDifference(
                fromFile: home + "/Trash/files/a"
            )
            #expect(kept == .some(nil))
            // Somebody else's by now.
            #expect(unlink(hub.path("b")) == 0)
            try TestFile.write("mine", to: hub.path("b"))
            #expect(try await hub.coordinator.remove([ids[1]], trashingWith: home) == 1)
            #expect(hub.names == ["b", "home"])
            #expect(try await hub.records.isEmpty)
        }
    }

    @Test func `completed tasks leave the list when their days are over, by a clock that is right`()
        async throws
    {
        let clocks = ClocksAhead()
        let old: [WallTime] = [.now.days(-3), .now.days(-1), WallTime(microseconds: 5)]
        try await withHub(
            time: clocks.time,
            prepare: { store, files in
                for (number, end) in old.enumerated() {
                    try await store.insert(url: "http://127.0.0.1:9/\(number)", directory: files) {
                        $0.state = .completed
                        $0.finishedAt = end
                    }
                }
            }
        ) { hub in
            let ids = try await hub.records.map(\.id)
            await hub.coordinator.keepCompleted(days: 2)
            try await soon("the first look") { clocks.rests == 1 }
            #expect(try await hub.records.map(\.id) == ids)
            // The calendar is wrong for a while, which takes away what is due by both looks alone.
            clocks.pass(.seconds(600), calendarOff: .seconds(40 * 86_400))
            try await soon("the second look") { clocks.rests == 2 }
            #expect(try await hub.records.map(\.id) == [ids[1], ids[2]])
            clocks.pass(.seconds(3600))
            try await soon("the third look") { clocks.rests == 3 }
            #expect(try await hub.records.map(\.id) == [ids[1], ids[2]])
            // What has no date that can be stays.
            clocks.pass(.seconds(86_400))
            try await hub.announced.waitForRemoval(of: ids[1])
            #expect(try await hub.records.map(\.id) == [ids[2]])
        }
    }

    @Test func `the list is cleared no further once the days are taken back`() async throws {
        let (clocks, commit) = (ClocksAhead(), HeldCommit())
        try await withHub(
            faults: commit.faults,
            time: clocks.time,
            prepare: { store, files in
                for number in 1...502 {
                    try await store.insert(url: "http://127.0.0.1:9/\(number)", directory: files) {
                        $0.state = .completed
                        $0.finishedAt = .now.days(-3)
                    }
                }
            }
        ) { hub in
            await hub.coordinator.keepCompleted(days: 2)
            try await soon("the first look") { clocks.rests == 1 }
            // A commit of the start would be held in place of the clearing's.
            try await soon("the start to be over") { await hub.coordinator.isIdle }
            commit.holdNext()
            clocks.pass(.seconds(600))
            do {
                defer { commit.release() }
                try await commit.reached()
                await hub.coordinator.keepCompleted(days: 0)
            }
            // The clearing would have committed its next step before some of these.
            for number in 1...20 {
                _ = try await hub.add("http://127.0.0.1:9/new/\(number)", isPaused: true)
            }
            #expect(try await hub.records.count { $0.state == .completed } == 2)
        }
    }

    @Test func `every reason why a task does not move is told`() async throws {
        let known = "gives up in 24 h if nothing comes by then"
        let ends: [(tries: UInt32, isHostKnown: Bool, retryFor: Int64, end: [String])] = [
            (9, true, 86_400, [known]), (9, true, 0, []),
            (3, false, 86_400, ["gives up after 5 more tries"]),
            (7, false, 0, ["gives up after 1 more try"]),
        ]
        try await withHub(begins: false) { hub in
            let waiting = try await hub.add("http://127.0.0.1:9/a")
            #expect(
                try await hub.coordinator.reasons(for: waiting).map(\.text)
                    == ["queue: 0 of 3 running"]
            )
            let paused = try await hub.add("http://127.0.0.1:9/b", isPaused: true)
            #expect(
                try await hub.coordinator.reasons(for: paused).map(\.text)
                    == ["paused by the user"]
            )
            let failure = Failure.status(503)
            let retrying = try await hub.store.insert(
                url: "http://127.0.0.1:9/c",
                directory: hub.files
            ) {
                $0.state = .waiting(.retry(at: .now.advanced(by: .seconds(3600))))
                $0.failure = failure
            }
            let reasons = try await hub.coordinator.reasons(for: retrying).map(\.text)
            #expect(reasons == ["retry in 60 min (HTTP 503)"])
            let cut = try await hub.store.insert(
                url: "http://127.0.0.1:9/e",
                directory: hub.files
            ) {
                $0.state = .waiting(.retry(at: .now.advanced(by: .seconds(3600))))
                $0.failure = Failure(.networkReset, "The line broke. A later try may succeed.")
            }
            let reason = try await hub.coordinator.reasons(for: cut).map(\.text)
            #expect(reason == ["retry in 60 min (The line broke)"])
            for (number, row) in ends.enumerated() {
                let id = try await hub.store.insert(
                    url: "http://127.0.0.1:9/end/\(number)",
                    directory: hub.files
                ) {
                    $0.state = .waiting(.retry(at: .now.advanced(by: .seconds(3600))))
                    $0.failure = failure
                    ($0.tries, $0.request.retryFor) = (row.tries, row.retryFor)
                    $0.hostHasAnswered = row.isHostKnown
                    $0.waited = .seconds(3600)
                }
                let reasons = try await hub.coordinator.reasons(for: id).map(\.text)
                #expect(reasons == ["retry in 60 min (HTTP 503)"] + row.end)
            }
            let failed = try await hub.store.insert(
                url: "http://127.0.0.1:9/d",
                directory: hub.files
            ) {
                $0.state = .failed
                $0.failure = failure
            }
            let message = try await hub.coordinator.reasons(for: failed).map(\.text)
            #expect(message == [failure.message])
        }
    }
}

extension WallTime {
    fileprivate func days(_ days: Int) -> WallTime { advanced(by: .seconds(days * 86_400)) }
}
