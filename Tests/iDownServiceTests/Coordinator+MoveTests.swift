// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownBus
import iDownState
import iDownTesting
import iDownloader

@testable import iDownData
@testable import iDownService

/// Files that get another place by SetOptions.
@Suite(.timeLimit(.minutes(2))) struct CoordinatorMoveTests {
    /// Runs `body` with a task that has a megabyte of its file; the rest comes at the second request.
    private func withPartial(
        isPaused: Bool = true,
        _ body: (Hub, TaskID, FaultServer) async throws -> Void
    ) async throws {
        let (server, hold) = try FaultServer.holdingFirst()
        defer { server.stop() }
        try await withHub { hub in
            let id = try await hub.add(server.url("/a.bin"))
            await hold.reached.waitUntilOpen()
            try await hub.arrival(of: 1 << 20, for: id)
            if isPaused {
                try await hub.coordinator.carryOut(.pause, on: id)
                await hub.transferEnd(of: id)
            }
            try await body(hub, id, server)
        }
    }

    private func edit(directory: String? = nil, name: String? = nil) -> TaskEdit {
        var edit = TaskEdit()
        edit.directory = directory
        edit.fileName = name
        return edit
    }

    private func waitForMove(_ hub: Hub, _ id: TaskID) async throws {
        try await soon("the move of task \(id)") { try await hub.record(id)?.move == nil }
    }

    private func waitForCommits(_ hub: Hub) async throws {
        try await soon("the commits") {
            await hub.coordinator.look { $0.commits.isIdle }
        }
    }

    private func folder(_ name: String, in hub: Hub) -> String {
        let path = hub.path(name)
        mkdir(path, 0o700)
        return path
    }

    private func finish(
        _ hub: Hub,
        _ id: TaskID,
        _ server: FaultServer,
        as path: String,
        requests: Int = 2
    ) async throws {
        if try await hub.record(id)?.state == .paused {
            try await hub.coordinator.carryOut(.resume, on: id)
        }
        try await hub.announced.wait(for: id, .completed)
        #expect(try TestContent.large.firstDifference(fromFile: path) == nil)
        #expect(server.requests.count == requests)
        #expect(server.requests.last?["Range"] == "bytes=\(1 << 20)-")
    }

    @Test(arguments: [true, false])
    func `within a file system a partial file is renamed, and goes on in its new place`(
        isPaused: Bool
    ) async throws {
        try await withPartial(isPaused: isPaused) { hub, id, server in
            let other = folder("other", in: hub)
            try await hub.coordinator.edit(id, edit(directory: other, name: "b.bin"))
            try await waitForMove(hub, id)
            let record = try #require(try await hub.record(id))
            #expect(record.request.directory == other && record.file?.name == "b.bin")
            #expect(record.segments.byteCount == 1 << 20)
            if isPaused {
                #expect(record.state == .paused)
                #expect(TestFile.names(in: other) == ["b.bin.part"])
                #expect(hub.names == ["other"])
            }
            try await finish(hub, id, server, as: other + "/b.bin")
            #expect(TestFile.names(in: other) == ["b.bin"] && hub.names == ["other"])
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
                try await hub.coordinator.edit(id, edit(directory: disk.path))
                try await waitForMove(hub, id)
                let record = try #require(try await hub.record(id))
                #expect(record.request.directory == disk.path)
                #expect(record.segments.byteCount >= 1 << 20)
                #expect(hub.names.isEmpty)
                // The name is taken there.
                try await finish(hub, id, server, as: disk.path + "/a (1).bin")
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
                    try await hub.coordinator.edit(id, edit(directory: directory))
                    try await waitForMove(hub, id)
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
                try await hub.coordinator.edit(id, edit(directory: other))
                try await waitForCommits(hub)
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
                try await waitForMove(hub, id)
                let record = try #require(try await hub.record(id))
                #expect(record.failure?.code == .fileVanished)
                #expect(record.request.directory == hub.files)
                #expect(record.segments.byteCount == 1 << 20)
                try await finish(hub, id, server, as: hub.path("a.bin"))
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
                try await waitForMove(hub, id)
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
                let third = self.edit(directory: hub.files)
                let coordinator = hub.coordinator
                await #expect(throws: Refusal.moving) { try await coordinator.edit(id, third) }
                #expect(rename(folder + "/away", drive) == 0)
                try await waitForMove(hub, id)
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
                try await hub.coordinator.edit(id, edit(directory: disk.path))
                try await waitForMove(hub, id)
                var record = try #require(try await hub.record(id))
                #expect(record.failure?.code == .fileNoSpace)
                record.failure = nil
                #expect(record.serial > before.serial)
                record.serial = before.serial
                #expect(record == before)
                #expect(TestFile.names(in: disk.path).isEmpty)
                try await finish(hub, id, server, as: hub.path("a.bin"))
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
                    try await hub.coordinator.edit(id, edit(directory: disk.path))
                    try await waitForMove(hub, id)
                    if try await hub.record(id)?.failure != nil { break }
                    try await hub.coordinator.edit(id, edit(directory: hub.files))
                    try await waitForMove(hub, id)
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
            let other = folder("other", in: hub)
            let hold = await DiskHold(hub, of: id)
            try await hub.coordinator.edit(id, edit(directory: other))
            #expect(try await hub.coordinator.task(id).record.isMoving)
            #expect(TaskProperties(try await hub.coordinator.task(id)).activity == .moving)
            #expect(rmdir(other) == 0)
            hold.release()
            try await waitForMove(hub, id)
            let record = try #require(try await hub.record(id))
            #expect(record.failure?.code == .fileVanished && record.state == .paused)
            #expect(record.request.directory == hub.files)
            try await finish(hub, id, server, as: hub.path("a.bin"))
        }
    }

    @Test(arguments: [Command.cancel, .remove])
    func `a verb that deletes the file finds it wherever it is`(command: Command) async throws {
        try await withPartial { hub, id, _ in
            let other = folder("other", in: hub)
            let hold = await DiskHold(hub, of: id)
            try await hub.coordinator.edit(id, edit(directory: other))
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
        for manner in [FaultPlan.Manner.refused, .answerLost] {
            try await withTemporaryFolder { folder in
                let id = try await withHub(in: folder) { hub in
                    let id = try await hub.add(server.url("/a.bin"))
                    await hold.reached.waitUntilOpen()
                    try await hub.arrival(of: 1 << 20, for: id)
                    try await hub.coordinator.carryOut(.pause, on: id)
                    await hub.transferEnd(of: id)
                    return id
                }
                let faults = FaultPlan(failing: number, manner: manner)
                try await withHub(in: folder, fileFaults: faults) { hub in
                    let other = self.folder("other", in: hub)
                    try await hub.coordinator.edit(id, edit(directory: other))
                    _ = await hub.coordinator.moveEnd(of: id)
                }
                try await withHub(in: folder) { hub in
                    try await waitForMove(hub, id)
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
            let (other, third) = (folder("other", in: hub), folder("third", in: hub))
            try await hub.coordinator.edit(id, edit(directory: other))
            try await hub.coordinator.edit(id, edit(directory: third))
            try await waitForMove(hub, id)
            #expect(TestFile.names(in: third) == ["a.bin.part"])
            #expect(TestFile.names(in: other).isEmpty)
            try await finish(hub, id, server, as: third + "/a.bin")
        }
    }

    @Test func `what another place does not say comes from the move that it takes the place of`()
        async throws
    {
        try await withPartial { hub, id, server in
            let (other, third) = (folder("other", in: hub), folder("third", in: hub))
            let coordinator = hub.coordinator
            let edits = [
                edit(directory: other, name: "b.bin"), edit(directory: third), edit(name: "c.bin"),
            ]
            let disk = await DiskHold(hub, of: id)
            for edit in edits.prefix(1) { try await coordinator.edit(id, edit) }
            let others = edits.dropFirst().map { edit in
                Task.immediate { try await coordinator.edit(id, edit) }
            }
            disk.release()
            for other in others { try await other.value }
            try await waitForMove(hub, id)
            #expect(TestFile.names(in: third) == ["c.bin.part"])
            #expect(TestFile.names(in: other).isEmpty)
            try await finish(hub, id, server, as: third + "/c.bin")
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
            let (other, third) = (folder("other", in: hub), folder("third", in: hub))
            let (first, second) = (edit(directory: other), edit(directory: third))
            let another = try await hub.add("http://127.0.0.1:9/b", isPaused: true)
            let coordinator = hub.coordinator
            let before = await DiskHold(hub, of: id)
            try await coordinator.edit(id, first)
            // The disk hangs again before the file gets its new name: while it waits for the commit
            // of that name, it asks nothing of the disk.
            try await waitForCommits(hub)
            commit.holdNext()
            defer { commit.release() }
            before.release()
            try await commit.reached()
            let disk = await DiskHold(hub, of: id)
            commit.release()
            try await waitForCommits(hub)
            // The end of the first move and the second edit share the next commit.
            commit.holdNext()
            let busy = Task.immediate { try await coordinator.setSpeedLimit(of: another, to: 1) }
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
            try await waitForMove(hub, id)
            #expect(TestFile.names(in: third) == ["a.bin.part"])
            #expect(try await hub.record(id)?.request.directory == third)
        }
    }

    @Test func `a refused edit leaves a move whose disk hangs`() async throws {
        try await withPartial { hub, id, server in
            let (other, third) = (folder("other", in: hub), folder("third", in: hub))
            let (coordinator, next) = (hub.coordinator, edit(directory: third))
            let disk = await DiskHold(hub, of: id)
            try await coordinator.edit(id, edit(directory: other))
            await #expect(throws: Refusal.moving) { try await coordinator.edit(id, next) }
            disk.release()
            try await waitForMove(hub, id)
            #expect(TestFile.names(in: other) == ["a.bin.part"])
            #expect(TestFile.names(in: third).isEmpty)
            try await finish(hub, id, server, as: other + "/a.bin")
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
            let (other, third) = (folder("other", in: hub), folder("third", in: hub))
            let (first, second) = (edit(directory: other), edit(directory: third))
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
            try await waitForMove(hub, id)
            #expect(TestFile.names(in: other) == ["a.bin.part"])
            #expect(TestFile.names(in: third).isEmpty)
        }
    }

    /// Leaves a paused task with a megabyte of its file in the folder `drive`, and no service.
    private func withLeftPartial(
        _ body: (_ folder: String, TaskID) async throws -> Void
    ) async throws {
        let (held, hold) = ServedFile.held()
        let server = try FaultServer.serving(held)
        defer { server.stop() }
        try await withTemporaryFolder { folder in
            let id = try await withHub(in: folder) { hub in
                let drive = self.folder("drive", in: hub)
                let wish = hub.wish(server.url("/a.bin")) { $0.directory = drive }
                let id = try #require(try await hub.coordinator.add([wish], token: nil).first)
                await hold.reached.waitUntilOpen()
                try await hub.arrival(of: 1 << 20, for: id)
                try await hub.coordinator.carryOut(.pause, on: id)
                await hub.transferEnd(of: id)
                return id
            }
            try await body(folder, id)
        }
    }

    @Test func `a folder that is not there after a restart is not taken for a lost file`()
        async throws
    {
        try await withLeftPartial { folder, id in
            let (files, drive) = (folder + "/files", folder + "/files/drive")
            let edit = edit(directory: files)
            try await withHub(
                in: folder,
                prepare: { store, _ in
                    try await store.commit { transaction in
                        _ = try transaction.change(id) { try $0.edit(edit) }
                    }
                    #expect(rename(drive, folder + "/away") == 0)
                }
            ) { hub in
                try await waitForMove(hub, id)
                let record = try #require(try await hub.record(id))
                #expect(record.failure?.code == .fileVanished && record.file != nil)
                #expect(record.segments.byteCount == 1 << 20)
                #expect(record.request.directory == drive)
            }
        }
    }

    @Test func `a list that cannot be read at the start is read again for the files that move`()
        async throws
    {
        try await withLeftPartial { folder, id in
            let edit = edit(directory: folder + "/files")
            try await withHub(
                in: folder,
                begins: false,
                prepare: { store, _ in
                    try await store.commit { transaction in
                        _ = try transaction.change(id) { try $0.edit(edit) }
                    }
                }
            ) { hub in
                func rename(_ column: String, _ name: String) async throws {
                    try await hub.store.commit { transaction in
                        _ = try transaction.texts(
                            "ALTER TABLE task RENAME COLUMN \(column) TO \(name)"
                        )
                    }
                }
                try await rename("moveKind", "away")
                await hub.coordinator.begin()
                try await Task.sleep(for: .milliseconds(300))
                #expect(hub.names == ["drive"])
                try await rename("away", "moveKind")
                try await waitForMove(hub, id)
                #expect(try await hub.record(id)?.request.directory == hub.files)
                #expect(hub.names == ["a.bin.part", "drive"])
            }
        }
    }

    @Test func `a file that may be in a folder that is not there is waited for`() async throws {
        try await withLeftPartial { folder, id in
            let (drive, other) = (folder + "/files/drive", folder + "/files/other")
            let edit = edit(directory: other)
            try await withHub(
                in: folder,
                prepare: { store, _ in
                    try await store.commit { transaction in
                        _ = try transaction.change(id) { record throws(Refusal) in
                            let file = record.file
                            var effects = try record.edit(edit)
                            if let file, let place = record.destination {
                                effects += record.apply(
                                    .move(.making(file), to: place),
                                    at: .someTime,
                                    jitter: 0
                                )
                            }
                            return effects
                        }
                    }
                    // The kill came between the rename and its record.
                    mkdir(folder + "/away", 0o700)
                    #expect(rename(drive + "/a.bin.part", folder + "/away/a.bin.part") == 0)
                }
            ) { hub in
                // Who gives the move up hears that nobody knows where the file is.
                let third = self.edit(directory: hub.files)
                let coordinator = hub.coordinator
                await #expect(throws: Refusal.moving) { try await coordinator.edit(id, third) }
                let record = try #require(try await hub.record(id))
                #expect(record.destination?.directory == other)
            }
            #expect(rename(folder + "/away", other) == 0)
            try await withHub(in: folder) { hub in
                try await waitForMove(hub, id)
                let record = try #require(try await hub.record(id))
                #expect(record.request.directory == other && record.failure == nil)
                #expect(record.segments.byteCount == 1 << 20)
            }
        }
    }

    @Test func `what a move has left on a drive that is not there is deleted when the drive is`()
        async throws
    {
        try await withLeftPartial { folder, id in
            let (files, drive) = (folder + "/files", folder + "/files/drive")
            try await withHub(
                in: folder,
                prepare: { store, _ in
                    try await store.commit { transaction in
                        _ = try transaction.change(id) { record in
                            // As a move to another file system leaves it, but for the new file.
                            if let file = record.file {
                                record.move = .from(directory: drive, file)
                            }
                            record.file = nil
                            record.request.directory = files
                            return [.persist]
                        }
                    }
                    #expect(rename(drive, folder + "/away") == 0)
                }
            ) { hub in
                _ = await hub.coordinator.moveEnd(of: id)
                let record = try #require(try await hub.record(id))
                #expect(record.move != nil)
            }
            #expect(rename(folder + "/away", drive) == 0)
            try await withHub(in: folder) { hub in
                try await waitForMove(hub, id)
                #expect(TestFile.names(in: drive).isEmpty)
            }
        }
    }

    @Test func `Verify does not read a file for ever that nobody moves`() async throws {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        try await withTemporaryFolder { folder in
            let id = try await withHub(in: folder) { hub in
                let id = try await hub.add(server.url("/a.bin"))
                try await hub.announced.wait(for: id, .completed)
                return id
            }
            let edit = edit(name: "b.bin")
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
                        _ = try await coordinator.verify(id, for: ":1.1")
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
            let second = folder("second", in: hub)
            try await withSecondMount(of: hub.files, at: second) {
                try await hub.coordinator.edit(id, edit(directory: second))
                try await waitForMove(hub, id)
                #expect(hub.names == ["a.bin.part", "second"])
                try await finish(hub, id, server, as: second + "/a.bin")
                if hasAnotherLink { link(second + "/a.bin", second + "/mine.bin") }
                let before = hub.names

                try await hub.coordinator.edit(id, edit(directory: hub.files))
                try await waitForMove(hub, id)
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
            let (renaming, atDisk) = (edit(name: "b.bin"), FaultServer.Gate())
            let rename = Task.immediate { try await coordinator.edit(id, renaming) }
            try await soon("the rename") { try await hub.record(id)?.isMoving == true }
            let removal = Task.immediate {
                try await coordinator.remove([id], trashingWith: home) { atDisk.open() }
            }
            await atDisk.waitUntilOpen()
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

extension Coordinator {
    /// Returns once nothing moves the task's file, or it has to be tried again later.
    fileprivate func moveEnd(of id: TaskID) async -> Moves.End? {
        await moves.end(of: id, atMost: .milliseconds(300), in: self)
    }
}
