// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownBus
import iDownState
import iDownTesting
import iDownloader

@testable import iDownData
@testable import iDownService

/// Files that get another place by SetOptions while the service runs.
@Suite(.timeLimit(.minutes(2))) struct CoordinatorMoveTests {
    @Test(arguments: [true, false])
    func `within a file system a partial file is renamed, and goes on in its new place`(
        isPaused: Bool
    ) async throws {
        try await withPartial(isPaused: isPaused) { hub, id, server in
            let other = hub.folder("other")
            try await hub.coordinator.edit(id, TaskEdit(directory: other, name: "b.bin"))
            try await hub.waitForMove(id)
            let record = try #require(try await hub.record(id))
            #expect(record.request.directory == other && record.file?.name == "b.bin")
            #expect(record.segments.byteCount == 1 << 20)
            if isPaused {
                #expect(record.state == .paused)
                #expect(TestFile.names(in: other) == ["b.bin.part"])
                #expect(hub.names == ["other"])
            }
            try await hub.finish(id, server, as: other + "/b.bin")
            #expect(TestFile.names(in: other) == ["b.bin"] && hub.names == ["other"])
        }
    }

    @Test func `a folder that the user has renamed is told by an edit, and the download goes on`()
        async throws
    {
        try await withPartial(isPaused: true) { hub, id, server in
            let (old, new) = (hub.folder("old"), hub.files + "/new")
            try await hub.coordinator.edit(id, TaskEdit(directory: old))
            try await hub.waitForMove(id)
            #expect(rename(old, new) == 0)
            try await hub.coordinator.edit(id, TaskEdit(directory: new))
            try await hub.waitForMove(id)
            let record = try #require(try await hub.record(id))
            #expect(record.request.directory == new && record.failure == nil)
            #expect(record.segments.byteCount == 1 << 20)
            try await hub.finish(id, server, as: new + "/a.bin")
        }
    }

    @Test(arguments: [true, false])
    func `a folder that was copied, and then deleted, is told by an edit`(
        keepsAttributes: Bool
    ) async throws {
        try await withPartial(isPaused: true) { hub, id, server in
            let (old, new) = (hub.folder("old"), hub.files + "/new")
            try await hub.coordinator.edit(id, TaskEdit(directory: old))
            try await hub.waitForMove(id)
            let kept = "--preserve=" + (keepsAttributes ? "mode,xattr" : "mode")
            let copied = try await ChildProcess.run("cp", ["-r", kept, old, new])
            #expect(copied.succeeded, "\(copied.standardError)")
            #expect(unlink(old + "/a.bin.part") == 0 && rmdir(old) == 0)
            try await hub.coordinator.edit(id, TaskEdit(directory: new))
            try await hub.waitForMove(id)
            let record = try #require(try await hub.record(id))
            #expect(record.segments.byteCount == 1 << 20)
            #expect(TestFile.names(in: new) == ["a.bin.part"])
            guard keepsAttributes else {
                // This file may be anybody's.
                #expect(record.request.directory == old)
                #expect(record.failure?.code == .fileVanished)
                return
            }
            #expect(record.request.directory == new && record.failure == nil)
            try await hub.coordinator.carryOut(.resume, on: id)
            try await hub.announced.wait(for: id, .completed)
            #expect(try TestContent.large.firstDifference(fromFile: new + "/a.bin") == nil)
            #expect(TestFile.names(in: new) == ["a.bin"])
            #expect(server.requests.dropFirst().allSatisfy { $0["Range"] != nil })
        }
    }

    @Test(
        .enabled("needs to mount a tmpfs") { await Privilege.canMount() },
        arguments: [true, false]
    )
    func `to another file system all bytes go along`(isPaused: Bool) async throws {
        try await withSmallDisk(mebibytes: 64) { disk in
            try await withPartial(isPaused: isPaused) { hub, id, server in
                try TestFile.write("mine", to: disk.path + "/a.bin")
                try await hub.coordinator.edit(id, TaskEdit(directory: disk.path))
                try await hub.waitForMove(id)
                let record = try #require(try await hub.record(id))
                #expect(record.request.directory == disk.path)
                #expect(record.segments.byteCount >= 1 << 20)
                #expect(hub.names.isEmpty)
                // The name is taken there.
                try await hub.finish(id, server, as: disk.path + "/a (1).bin")
                #expect(TestFile.names(in: disk.path) == ["a (1).bin", "a.bin"])
                #expect(try TestFile.text(of: disk.path + "/a.bin") == "mine")
            }
        }
    }

    @Test(.enabled("needs to mount a tmpfs") { await Privilege.canMount() })
    func `the copy that a move leaves goes while the task goes on, which may move again`()
        async throws
    {
        try await withSmallDisk(mebibytes: 64) { disk in
            let (held, hold) = ServedFile.held()
            // No request brings the end of the file.
            let server = try FaultServer(
                script: .init { request in
                    var file = held
                    if request.number > 1 { file.hold = .init(afterBytes: 4096) }
                    return file.answer(to: request)
                }
            )
            defer { server.stop() }
            try await withHub { hub in
                let id = try await hub.add(server.url("/a.bin"))
                await hold.reached.waitUntilOpen()
                try await hub.arrival(of: 1 << 20, for: id)
                for directory in [disk.path, hub.files, disk.path] {
                    try await hub.coordinator.edit(id, TaskEdit(directory: directory))
                    try await hub.waitForMove(id)
                    let record = try #require(try await hub.record(id))
                    #expect(record.state == .downloading)
                    #expect(record.request.directory == directory)
                }
                #expect(hub.names.isEmpty)
                try await hub.coordinator.carryOut(.cancel, on: id)
                await hub.transferEnd(of: id)
            }
        }
    }

    @Test(
        .enabled("needs to mount a tmpfs") { await Privilege.canMount() },
        arguments: [true, false]
    )
    func `a copy that is deleted before the old file goes leaves the old file`(
        isPaused: Bool
    ) async throws {
        let (server, hold) = try FaultServer.holdingFirst()
        defer { server.stop() }
        let commit = HeldCommit()
        try await withSmallDisk(mebibytes: 64) { disk in
            try await withHub(faults: commit.faults) { hub in
                let other = disk.path + "/other"
                mkdir(other, 0o700)
                let id = try await hub.add(server.url("/a.bin"))
                await hold.reached.waitUntilOpen()
                try await hub.arrival(of: 1 << 20, for: id)
                if isPaused {
                    try await hub.coordinator.carryOut(.pause, on: id)
                    await hub.transferEnd(of: id)
                }
                let before = await DiskHold(hub, of: id)
                try await hub.coordinator.edit(id, TaskEdit(directory: other))
                try await hub.waitForCommits()
                // The commit that comes once the copy has its name is held.
                commit.holdNext()
                before.release()
                defer { commit.release() }
                try await commit.reached()
                while TestFile.names(in: other).isEmpty {
                    commit.holdNext()
                    commit.release()
                    try await commit.reached()
                }
                #expect(TestFile.names(in: other) == ["a.bin.part"])
                unlink(other + "/a.bin.part")
                rmdir(other)
                commit.release()
                try await hub.waitForMove(id)
                let record = try #require(try await hub.record(id))
                #expect(record.failure?.code == .fileVanished)
                #expect(record.request.directory == hub.files)
                #expect(record.segments.byteCount == 1 << 20)
                try await hub.finish(id, server, as: hub.path("a.bin"))
            }
        }
    }

    @Test(arguments: [true, false], [true, false])
    func `a copy that is complete at a restart takes the place of the old file, if it is there`(
        hasCopy: Bool,
        hasOriginal: Bool
    ) async throws {
        try await withLeftPartial { folder, id in
            let (drive, other) = (folder + "/files/drive", folder + "/files/other")
            let (original, copy) = (drive + "/a.bin.part", other + "/b.bin.part")
            try await withHub(
                in: folder,
                prepare: { store, _ in
                    mkdir(other, 0o700)
                    // A second inode with the same bytes, as on another file system.
                    _ = try await ChildProcess.run("cp", ["-p", original, copy])
                    let found = try OpenFolder(other, fileSystem: FileSystem())
                    let status = try #require(try found.status(of: "b.bin.part"))
                    let made = LocalFile(
                        name: "b.bin",
                        fileSystem: found.traits.number,
                        mark: found.traits.mark(of: status.identity)
                    )
                    try await store.commit { transaction in
                        _ = try transaction.change(id) { record in
                            let place = Move.Place(directory: other, name: "b.bin")
                            record.move = .copied(place, made)
                            return [.persist]
                        }
                    }
                    if !hasCopy { unlink(copy) }
                    if !hasOriginal { unlink(original) }
                }
            ) { hub in
                try await hub.waitForMove(id)
                let record = try #require(try await hub.record(id))
                let isBack = hasOriginal && !hasCopy
                #expect(record.request.directory == (isBack ? drive : other))
                #expect(record.failure?.code == (isBack ? .fileVanished : nil))
                #expect(record.segments.byteCount == (hasOriginal || hasCopy ? 1 << 20 : 0))
                #expect(TestFile.names(in: other) == (hasCopy ? ["b.bin.part"] : []))
                #expect(TestFile.names(in: drive) == (isBack ? ["a.bin.part"] : []))
            }
        }
    }

    @Test func `a copy that is gone while the folder of the old file is missing is waited for`()
        async throws
    {
        try await withLeftPartial { folder, id in
            let (drive, other) = (folder + "/files/drive", folder + "/files/other")
            try await withHub(
                in: folder,
                prepare: { store, _ in
                    mkdir(other, 0o700)
                    try await store.commit { transaction in
                        _ = try transaction.change(id) { record in
                            let gone = LocalFile(
                                name: "b.bin",
                                fileSystem: record.file?.fileSystem ?? 0,
                                mark: 1
                            )
                            let place = Move.Place(directory: other, name: "b.bin")
                            record.move = .copied(place, gone)
                            return [.persist]
                        }
                    }
                    #expect(rename(drive, folder + "/away") == 0)
                }
            ) { hub in
                // Who gives the move up hears that nobody knows where the file is.
                let third = TaskEdit(directory: hub.files)
                let coordinator = hub.coordinator
                await #expect(throws: Refusal.moving) { try await coordinator.edit(id, third) }
                #expect(rename(folder + "/away", drive) == 0)
                try await hub.waitForMove(id)
                let record = try #require(try await hub.record(id))
                #expect(record.request.directory == drive)
                #expect(record.segments.byteCount == 1 << 20)
            }
        }
    }

    @Test(.enabled("needs to mount a tmpfs") { await Privilege.canMount() })
    func `a disk without room leaves the file in its old place, and says why`() async throws {
        try await withSmallDisk(mebibytes: 4) { disk in
            try await withPartial { hub, id, server in
                let before = try #require(try await hub.record(id))
                try await hub.coordinator.edit(id, TaskEdit(directory: disk.path))
                try await hub.waitForMove(id)
                var record = try #require(try await hub.record(id))
                #expect(record.failure?.code == .fileNoSpace)
                record.failure = nil
                #expect(record.serial > before.serial)
                record.serial = before.serial
                #expect(record == before)
                #expect(TestFile.names(in: disk.path).isEmpty)
                try await hub.finish(id, server, as: hub.path("a.bin"))
            }
        }
    }

    @Test(.enabled("needs to mount a tmpfs") { await Privilege.canMount() })
    func `a disk that fills up while the file comes leaves nothing there`() async throws {
        try await withSmallDisk(mebibytes: 64) { disk in
            let (held, hold) = ServedFile.held()
            let server = try FaultServer.serving(held)
            defer { server.stop() }
            // The fifth sync is that of the file or of a folder, there or back.
            try await withHub(
                fileFaults: FaultPlan(failing: 5, of: "fsync", with: ENOSPC)
            ) { hub in
                let id = try await hub.add(server.url("/a.bin"))
                await hold.reached.waitUntilOpen()
                try await hub.arrival(of: 1 << 20, for: id)
                try await hub.coordinator.carryOut(.pause, on: id)
                await hub.transferEnd(of: id)
                for _ in 0..<5 {
                    try await hub.coordinator.edit(id, TaskEdit(directory: disk.path))
                    try await hub.waitForMove(id)
                    if try await hub.record(id)?.failure != nil { break }
                    try await hub.coordinator.edit(id, TaskEdit(directory: hub.files))
                    try await hub.waitForMove(id)
                    if try await hub.record(id)?.failure != nil { break }
                }
                let record = try #require(try await hub.record(id))
                #expect(record.failure?.code == .fileNoSpace && record.state == .paused)
                #expect(record.segments.byteCount == 1 << 20)
                let places = [hub.files: hub.names, disk.path: TestFile.names(in: disk.path)]
                #expect(places.values.flatMap(\.self) == ["a.bin.part"])
                #expect(places[record.request.directory] == ["a.bin.part"])
            }
        }
    }

    @Test func `a folder that is gone leaves the file in its old place, and says why`() async throws
    {
        try await withPartial { hub, id, server in
            let other = hub.folder("other")
            let hold = await DiskHold(hub, of: id)
            try await hub.coordinator.edit(id, TaskEdit(directory: other))
            #expect(try await hub.coordinator.task(id).record.isMoving)
            #expect(TaskProperties(try await hub.coordinator.task(id)).activity == .moving)
            #expect(rmdir(other) == 0)
            hold.release()
            try await hub.waitForMove(id)
            let record = try #require(try await hub.record(id))
            #expect(record.failure?.code == .fileVanished && record.state == .paused)
            #expect(record.request.directory == hub.files)
            try await hub.finish(id, server, as: hub.path("a.bin"))
        }
    }

    @Test(arguments: [Command.cancel, .remove])
    func `a verb that deletes the file finds it wherever it is`(command: Command) async throws {
        try await withPartial { hub, id, _ in
            let other = hub.folder("other")
            let hold = await DiskHold(hub, of: id)
            try await hub.coordinator.edit(id, TaskEdit(directory: other))
            let coordinator = hub.coordinator
            let verb = Task.immediate { try await coordinator.carryOut(command, on: id) }
            try await soon("the verb") { try await hub.record(id)?.isDeleting == true }
            hold.release()
            try await verb.value
            try await soon("the file to be gone") {
                try await hub.record(id)?.isDeleting != true
            }
            #expect(hub.names == ["other"] && TestFile.names(in: other).isEmpty)
        }
    }

    @Test(arguments: 1...30)
    func `whatever call of a rename fails, the file is where the record says`(
        number: Int
    ) async throws {
        let (held, hold) = ServedFile.held()
        let server = try FaultServer.serving(held)
        defer { server.stop() }
        // From the edit on: an answer that is lost, and one call that is refused.
        for isMade in [false, true] {
            try await withTemporaryFolder { folder in
                let id = try await withHub(in: folder) { hub in
                    let id = try await hub.add(server.url("/a.bin"))
                    await hold.reached.waitUntilOpen()
                    try await hub.arrival(of: 1 << 20, for: id)
                    try await hub.coordinator.carryOut(.pause, on: id)
                    await hub.transferEnd(of: id)
                    return id
                }
                let faults = FaultPlan(failing: number, isMade: isMade)
                try await withHub(in: folder, fileFaults: faults) { hub in
                    let other = hub.folder("other")
                    try await hub.coordinator.edit(id, TaskEdit(directory: other))
                    _ = await hub.coordinator.moveEnd(of: id)
                }
                try await withHub(in: folder) { hub in
                    try await hub.waitForMove(id)
                    let record = try #require(try await hub.record(id))
                    #expect(record.segments.byteCount == 1 << 20)
                    #expect(TestFile.names(in: record.request.directory).contains("a.bin.part"))
                    #expect(record.file != nil)
                }
            }
        }
    }

    @Test func `another place takes the place of a move that is not over`() async throws {
        try await withPartial { hub, id, server in
            let (other, third) = (hub.folder("other"), hub.folder("third"))
            try await hub.coordinator.edit(id, TaskEdit(directory: other))
            try await hub.coordinator.edit(id, TaskEdit(directory: third))
            try await hub.waitForMove(id)
            #expect(TestFile.names(in: third) == ["a.bin.part"])
            #expect(TestFile.names(in: other).isEmpty)
            try await hub.finish(id, server, as: third + "/a.bin")
        }
    }

    @Test func `what another place does not say comes from the move that it takes the place of`()
        async throws
    {
        try await withPartial { hub, id, server in
            let (other, third) = (hub.folder("other"), hub.folder("third"))
            let coordinator = hub.coordinator
            let edits = [
                TaskEdit(directory: other, name: "b.bin"), TaskEdit(directory: third),
                TaskEdit(name: "c.bin"),
            ]
            let disk = await DiskHold(hub, of: id)
            for edit in edits.prefix(1) { try await coordinator.edit(id, edit) }
            let others = edits.dropFirst().map { edit in
                Task.immediate { try await coordinator.edit(id, edit) }
            }
            disk.release()
            for other in others { try await other.value }
            try await hub.waitForMove(id)
            #expect(TestFile.names(in: third) == ["c.bin.part"])
            #expect(TestFile.names(in: other).isEmpty)
            try await hub.finish(id, server, as: third + "/c.bin")
        }
    }

    @Test func `a place that is given while the last move ends is not forgotten`() async throws {
        let (held, hold) = ServedFile.held()
        let server = try FaultServer.serving(held)
        defer { server.stop() }
        let commit = HeldCommit()
        try await withHub(faults: commit.faults) { hub in
            let id = try await hub.add(server.url("/a.bin"))
            await hold.reached.waitUntilOpen()
            try await hub.arrival(of: 1 << 20, for: id)
            try await hub.coordinator.carryOut(.pause, on: id)
            await hub.transferEnd(of: id)
            let (other, third) = (hub.folder("other"), hub.folder("third"))
            let (first, second) = (TaskEdit(directory: other), TaskEdit(directory: third))
            let another = try await hub.add("http://127.0.0.1:9/b", isPaused: true)
            let coordinator = hub.coordinator
            let before = await DiskHold(hub, of: id)
            try await coordinator.edit(id, first)
            // The disk hangs again before the file gets its new name: while it waits for the commit
            // of that name, it asks nothing of the disk.
            try await hub.waitForCommits()
            commit.holdNext()
            defer { commit.release() }
            before.release()
            try await commit.reached()
            let disk = await DiskHold(hub, of: id)
            commit.release()
            try await hub.waitForCommits()
            // The end of the first move and the second edit share the next commit.
            commit.holdNext()
            let busy = Task.immediate { try await coordinator.set(another) { $0.speedLimit = 1 } }
            try await commit.reached()
            disk.release()
            try await soon("the end of the move") {
                await coordinator.look { $0.commits.waiting } == 1
            }
            let next = Task.immediate { try await coordinator.edit(id, second) }
            try await soon("the edit") {
                await coordinator.look { $0.commits.waiting } == 2
            }
            commit.release()
            try await busy.value
            try await next.value
            try await hub.waitForMove(id)
            #expect(TestFile.names(in: third) == ["a.bin.part"])
            #expect(try await hub.record(id)?.request.directory == third)
        }
    }

    @Test func `a refused edit leaves a move whose disk hangs`() async throws {
        try await withPartial { hub, id, server in
            let (other, third) = (hub.folder("other"), hub.folder("third"))
            let (coordinator, next) = (hub.coordinator, TaskEdit(directory: third))
            let disk = await DiskHold(hub, of: id)
            try await coordinator.edit(id, TaskEdit(directory: other))
            await #expect(throws: Refusal.moving) { try await coordinator.edit(id, next) }
            disk.release()
            try await hub.waitForMove(id)
            #expect(TestFile.names(in: other) == ["a.bin.part"])
            #expect(TestFile.names(in: third).isEmpty)
            try await hub.finish(id, server, as: other + "/a.bin")
        }
    }

    @Test func `a move that cannot be given up goes on`() async throws {
        let (held, hold) = ServedFile.held()
        let server = try FaultServer.serving(held)
        defer { server.stop() }
        let faults = CallFaults()
        try await withHub(faults: faults) { hub in
            let id = try await hub.add(server.url("/a.bin"))
            await hold.reached.waitUntilOpen()
            try await hub.arrival(of: 1 << 20, for: id)
            try await hub.coordinator.carryOut(.pause, on: id)
            await hub.transferEnd(of: id)
            let (other, third) = (hub.folder("other"), hub.folder("third"))
            let (first, second) = (TaskEdit(directory: other), TaskEdit(directory: third))
            let disk = await DiskHold(hub, of: id)
            let coordinator = hub.coordinator
            try await coordinator.edit(id, first)
            // Behind the refused edit the end of the move cannot be recorded, twice.
            faults.failNext(after: 1)
            faults.failNext(after: 2)
            let commits = faults.calls
            let next = Task.immediate { try await coordinator.edit(id, second) }
            try await soon("the refusal") { faults.calls > commits }
            disk.release()
            await #expect(throws: Refusal.moving) { try await next.value }
            try await hub.waitForMove(id)
            #expect(TestFile.names(in: other) == ["a.bin.part"])
            #expect(TestFile.names(in: third).isEmpty)
        }
    }
}
