// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownData
import iDownState
import iDownTesting

@testable import iDownService

@Suite struct CoordinatorAddingTests {
    private let url = "http://127.0.0.1:9/file?token=1"

    @Test func `an unfinished task is resumed in place of a second one`() async throws {
        try await withHub(slots: 0) { hub in
            let id = try await hub.add(url, isPaused: true)
            #expect(try await hub.add(url, priority: 7) == id)
            let record = try #require(try await hub.record(id))
            #expect(record.state == .waiting(.queue))
            #expect(record.priority == 0, "the second call's options are not applied")
            #expect(try await hub.records.count == 1)
        }
    }

    @Test func `a link sets nothing going that may use the user's logins`() async throws {
        try await withHub(slots: 0) { hub in
            let link = hub.wish(url) { $0.usesStoredLogins = false }
            let own = hub.wish(url)
            let id = try await hub.add(url, isPaused: true)
            #expect(try await hub.coordinator.add([link], token: nil) == [id])
            #expect(try await hub.record(id)?.state == .paused)
            #expect(try await hub.record(id)?.request.usesStoredLogins == true)
            #expect(try await hub.coordinator.add([own], token: nil) == [id])
            #expect(try await hub.record(id)?.state == .waiting(.queue))
        }
    }

    @Test func `a task of an application's is resumed for that application alone`() async throws {
        try await withHub(slots: 0) { hub in
            let wish = { (owner: String?) in hub.wish(url) { $0.owner = owner } }
            var ids: [TaskID] = []
            for owner in ["flatpak/a", "flatpak/b", nil] {
                ids += try await hub.coordinator.add([wish(owner)], token: nil)
            }
            #expect(Set(ids).count == 3)
            for (owner, id) in zip(["flatpak/a", "flatpak/b", nil], ids) {
                #expect(try await hub.coordinator.add([wish(owner)], token: nil) == [id])
            }
        }
    }

    @Test func `an application from a sandbox may have its share of the list, and no more`()
        async throws
    {
        try await withHub(begins: false) { hub in
            let wishes = { (numbers: ClosedRange<Int>, owner: String?) in
                numbers.map { number in
                    hub.wish("http://127.0.0.1:9/\(number)", isPaused: true) { $0.owner = owner }
                }
            }
            let share = Contract.maximumTasksOfApplication
            _ = try await hub.coordinator.add(wishes(2...share, "flatpak/a"), token: nil)
            let two = wishes(share + 1...share + 2, "flatpak/a")
            await #expect(throws: ServiceRefusal.self) {
                try await hub.coordinator.add(two, token: nil)
            }
            #expect(try await hub.coordinator.counts().total == share - 1)
            let last = try await hub.coordinator.add([two[0]], token: nil)
            await #expect(throws: ServiceRefusal.self) {
                try await hub.coordinator.add([two[1]], token: nil)
            }
            // What is in the list already is found again, and others have their own share.
            #expect(try await hub.coordinator.add([two[0]], token: nil) == last)
            for owner in ["flatpak/b", nil] {
                _ = try await hub.coordinator.add(wishes(0...0, owner), token: nil)
            }
        }
    }

    @Test func `the user's own metalink resumes a task that may use logins, and lends it none`()
        async throws
    {
        try await withHub(slots: 0) { hub in
            var listed = hub.wish(url) { $0.usesStoredLogins = false }
            listed.isUsersOwn = true
            let id = try await hub.add(url, isPaused: true)
            let other = hub.wish(url + "2", isPaused: true) { $0.usesStoredLogins = false }
            let lesser = try #require(try await hub.coordinator.add([other], token: nil).first)
            var again = listed
            again.request.url = url + "2"
            #expect(try await hub.coordinator.add([listed, again], token: nil) == [id, lesser])
            #expect(try await hub.record(id)?.state == .waiting(.queue))
            #expect(try await hub.record(id)?.request.usesStoredLogins == true)
            #expect(try await hub.record(lesser)?.state == .waiting(.queue))
            #expect(try await hub.record(lesser)?.request.usesStoredLogins == false)
        }
    }

    @Test func `who adds what a link has added before lends it the logins`() async throws {
        try await withHub(slots: 0) { hub in
            let link = hub.wish(url) { $0.usesStoredLogins = false }
            let id = try #require(try await hub.coordinator.add([link], token: nil).first)
            try await hub.coordinator.carryOut(.pause, on: id)
            #expect(try await hub.coordinator.add([link], token: nil) == [id])
            // Waiting as it does.
            #expect(try await hub.record(id)?.request.usesStoredLogins == false)
            #expect(try await hub.coordinator.add([hub.wish(url)], token: nil) == [id])
            #expect(try await hub.record(id)?.request.usesStoredLogins == true)
        }
    }

    @Test func `with paused an unfinished task keeps its state`() async throws {
        try await withHub(slots: 0) { hub in
            let waiting = try await hub.add(url)
            #expect(try await hub.add(url, isPaused: true) == waiting)
            #expect(try await hub.record(waiting)?.state == .waiting(.queue))
            try await hub.coordinator.carryOut(.pause, on: waiting)
            #expect(try await hub.add(url, isPaused: true) == waiting)
            #expect(try await hub.record(waiting)?.state == .paused)
        }
    }

    @Test func `a cancelled task is not taken up again by an add`() async throws {
        try await withHub(slots: 0) { hub in
            let first = try await hub.add(url)
            try await hub.coordinator.carryOut(.cancel, on: first)
            #expect(try await hub.add(url) != first)
        }
    }

    @Test func `another folder or another name is another task`() async throws {
        try await withHub(slots: 0) { hub in
            let first = try await hub.add(url)
            let elsewhere = hub.wish(url) { $0.directory = "/elsewhere" }
            let named = hub.wish(url) { $0.fileName = "other" }
            let ids = try await hub.coordinator.add([elsewhere, named], token: nil)
            #expect(Set(ids + [first]).count == 3)
            #expect(try await hub.coordinator.add([named], token: nil) == [ids[1]])
        }
    }

    @Test func `a URL given twice gives its id twice`() async throws {
        try await withHub(slots: 0) { hub in
            let wish = hub.wish(url)
            let ids = try await hub.coordinator.add([wish, hub.wish(url + "2"), wish], token: nil)
            #expect(ids[0] == ids[2])
            #expect(ids[0] != ids[1])
            #expect(hub.announced.all.filter(\.isAddition).count == 2)
        }
    }

    @Test func `one refused wish adds none, and nobody is told of any`() async throws {
        try await withHub(slots: 0) { hub in
            let paused = try await hub.add(url, isPaused: true)
            let mark = hub.announced.all.filter { $0.id != nil }.count
            let wishes = [
                hub.wish(url), hub.wish(url + "2"), hub.wish(url + "3", takenName: "taken.iso"),
            ]
            await #expect(throws: ServiceRefusal.fileExists("taken.iso")) {
                try await hub.coordinator.add(wishes, token: "t")
            }
            #expect(try await hub.records.map(\.id) == [paused])
            #expect(try await hub.record(paused)?.state == .paused)
            #expect(hub.announced.all.filter { $0.id != nil }.count == mark)
            // The token was not used up either.
            let id = try await hub.add(url + "4", token: "t")
            #expect(id != paused)
        }
    }

    @Test func `a taken name is nothing to a task that is there already`() async throws {
        try await withHub(slots: 0) { hub in
            let id = try await hub.add(url, isPaused: true)
            let wish = hub.wish(url, takenName: "taken.iso")
            #expect(try await hub.coordinator.add([wish], token: nil) == [id])
        }
    }

    @Test func `a token gives the same ids for ever`() async throws {
        try await withHub(slots: 0) { hub in
            let first = try await hub.add(url, token: "blind")
            #expect(try await hub.add(url + "other", token: "blind") == first)
            try await hub.coordinator.carryOut(.remove, on: first)
            #expect(try await hub.add(url, token: "blind") == first)
            #expect(try await hub.records.isEmpty)
        }
    }

    @Test func `two calls with one token at the same moment add one task`() async throws {
        try await withHub(slots: 0) { hub in
            let calls = (0..<10).map { number in
                Task.immediate { try await hub.add("\(url)\(number)", token: "one") }
            }
            var ids: Set<TaskID> = []
            for call in calls { ids.insert(try await call.value) }
            #expect(ids.count == 1)
            #expect(try await hub.records.count == 1)
        }
    }

    @Test func `a task that is being removed is not resumed by an add`() async throws {
        let (file, hold) = ServedFile.held()
        let server = try FaultServer.serving(file)
        defer { server.stop() }
        try await withHub { hub in
            let id = try await hub.add(server.url("/a"))
            try await hub.announced.wait("the file to be open") { all in
                all.contains { announcement in
                    guard case .changed(_, let task) = announcement else { return false }
                    return task.record.file != nil
                }
            }
            await hold.reached.waitUntilOpen()
            let disk = await DiskHold(hub, of: id)
            let removal = Task { try await hub.coordinator.carryOut(.remove, on: id) }
            try await soon("the removal to be recorded") {
                try await hub.record(id)?.intent == .remove
            }
            let other = try await hub.add(server.url("/a"), isPaused: true)
            #expect(other != id)
            await #expect(throws: ServiceRefusal.self) {
                try await hub.coordinator.carryOut(.resume, on: id)
            }
            disk.release()
            try await removal.value
            try await hub.announced.waitForRemoval(of: id)
            #expect(try await hub.record(id) == nil)
        }
    }
}
