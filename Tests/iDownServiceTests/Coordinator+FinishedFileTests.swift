// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownBus
import iDownState
import iDownTesting
import iDownloader

@testable import iDownData
@testable import iDownService

/// Finished files that get another name, or go to the trash.
@Suite(.timeLimit(.minutes(2))) struct CoordinatorFinishedFileTests {
    @Test func `Verify does not read a file for ever that nobody moves`() async throws {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        try await withTemporaryFolder { folder in
            let id = try await withHub(in: folder) { hub in
                let id = try await hub.add(server.url("/a.bin"))
                try await hub.announced.wait(for: id, .completed)
                return id
            }
            let edit = TaskEdit(name: "b.bin")
            try await withHub(
                in: folder,
                begins: false,
                prepare: { store, _ in
                    try await store.commit { transaction in
                        _ = try transaction.change(id) { try $0.edit(edit) }
                    }
                }
            ) { hub in
                let coordinator = hub.coordinator
                await #expect(throws: Refusal.moving) {
                    try await within("the answer") {
                        _ = try await coordinator.verify(id)
                    }
                }
            }
        }
    }

    @Test func `a finished file is renamed before the reply, and never over another`() async throws
    {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        try await withService { scene in
            let client = scene.client
            let id = try await client.addURL(server.url("/a.bin"))
            try await scene.wait(for: id, .completed)
            var options = EditOptions()
            options.values.filename = "b.bin"
            options.values.directory = scene.home.download("inside")
            try await client.setOptions(options, of: id)
            var task = try await client.getTask(id)
            #expect(task.path == scene.home.download("inside/b.bin") && task.activity == .none)
            #expect(try TestContent.small.firstDifference(fromFile: task.path) == nil)
            #expect(!TestFile.exists(scene.home.download("a.bin")))

            try TestFile.write("mine", to: scene.home.download("inside/c.bin"))
            options.values.filename = "c.bin"
            options.values.priority = 7
            let taken = options
            #expect(await code { try await client.setOptions(taken, of: id) } == .fileExists)
            #expect(try await client.getTask(id) == task)
            #expect(try TestFile.text(of: scene.home.download("inside/c.bin")) == "mine")

            #expect(unlink(task.path) == 0)
            options.values.filename = "d.bin"
            let gone = options
            #expect(await code { try await client.setOptions(gone, of: id) } == .invalidState)
            task = try await client.getTask(id)
            #expect(task.fileName == "b.bin" && task.errorCode == "")
        }
    }

    @Test(
        .enabled("needs to mount a folder twice") { await Privilege.canMount() },
        arguments: [false, true]
    )
    func `a file that another path of its folder is chosen for is not deleted`(
        hasAnotherLink: Bool
    ) async throws {
        try await withPartial { hub, id, server in
            let second = hub.folder("second")
            try await withSecondMount(of: hub.files, at: second) {
                try await hub.coordinator.edit(id, TaskEdit(directory: second))
                try await hub.waitForMove(id)
                #expect(hub.names == ["a.bin.part", "second"])
                try await hub.finish(id, server, as: second + "/a.bin")
                if hasAnotherLink { link(second + "/a.bin", second + "/mine.bin") }
                let before = hub.names

                try await hub.coordinator.edit(id, TaskEdit(directory: hub.files))
                try await hub.waitForMove(id)
                #expect(try await hub.record(id)?.request.directory == hub.files)
                #expect(hub.names == before && before.contains("a.bin"))
            }
        }
    }

    @Test func `a file goes to the trash under the name that a slow rename gives it`() async throws
    {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        try await withHub { hub in
            let id = try await hub.add(server.url("/a.bin"))
            try await hub.announced.wait(for: id, .completed)
            let disk = await DiskHold(hub, of: id)
            let (coordinator, home) = (hub.coordinator, hub.files + "/home")
            let renaming = TaskEdit(name: "b.bin")
            let rename = Task.immediate { try await coordinator.edit(id, renaming) }
            try await soon("the rename") { try await hub.record(id)?.isMoving == true }
            let removal = Task.immediate {
                try await coordinator.remove([id], trashingWith: home)
            }
            try await soon("the removal") { await coordinator.look { !$0.trashing.isIdle } }
            disk.release()
            #expect(try await removal.value == 1)
            try await rename.value
            #expect(TestFile.names(in: home + "/Trash/files") == ["b.bin"])
            #expect(hub.names == ["home"])
        }
    }

    @Test(.enabled("needs to mount a tmpfs") { await Privilege.canMount() })
    func `a finished file stays on its file system`() async throws {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        try await withSmallDisk(mebibytes: 64) { disk in
            try await withService { scene in
                let id = try await scene.client.addURL(server.url("/a.bin"))
                try await scene.wait(for: id, .completed)
                let before = try await scene.client.getTask(id)
                var options = EditOptions()
                options.values.directory = disk.path + "/new"
                let other = options
                let code = await code { try await scene.client.setOptions(other, of: id) }
                #expect(code == .invalidDestination)
                #expect(try await scene.client.getTask(id) == before)
                #expect(TestFile.exists(before.path) && TestFile.names(in: disk.path).isEmpty)
            }
        }
    }
}
