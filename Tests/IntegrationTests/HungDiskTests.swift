// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownBus
import iDownSettings
import iDownTesting

/// A disk that stops answering, and answers again later.
@Suite(.timeLimit(.minutes(5)))
struct HungDiskTests {
    private static let program = HangingDisk.Kind.stoppedProgram
    private static let image = HangingDisk.Kind.frozenImage

    /// The largest download, of which no more is on disk than this when the disk hangs.
    private static let part: Int64 = 2 << 20
    private let large = TestContent(seed: 95, count: 8 << 20)
    private let small = TestContent(seed: 96, count: 100_000)
    /// Takes three seconds by itself.
    private let paced = TestContent(seed: 97, count: 6 << 20)

    /// A host whose files stop after ``part`` bytes until the gate opens, `/held` until its own does.
    private func host(
        _ goesOn: FaultServer.Gate,
        held: FaultServer.Gate? = nil
    ) throws -> FaultServer {
        try FaultServer(
            script: .init { request in
                switch request.path {
                case "/paced":
                    var file = ServedFile(paced)
                    file.bytesPerSecond = 2 << 20
                    return file.answer(to: request)
                case "/slow":
                    var file = ServedFile(large)
                    file.bytesPerSecond = 400_000
                    return file.answer(to: request)
                case "/wide-1", "/wide-2":
                    var file = ServedFile(large)
                    file.bytesPerSecond = 100_000
                    return file.answer(to: request)
                case "/moved":
                    var file = ServedFile(large)
                    let count = request["Range"] == nil ? Self.part : 0
                    file.hold = .init(afterBytes: count, until: goesOn)
                    return file.answer(to: request)
                case "/small":
                    return ServedFile(small).answer(to: request)
                default:
                    var file = ServedFile(large)
                    let gate = request.path == "/held" ? held : nil
                    file.hold = .init(afterBytes: Self.part, until: gate ?? goesOn)
                    return file.answer(to: request)
                }
            }
        )
    }

    private func add(
        _ name: String,
        of host: FaultServer,
        to disk: HangingDisk,
        _ service: ServiceUnderTest
    ) async throws -> String {
        let id = try await service.add(host.url("/\(name)")) { $0.directory = disk.path }
        try await service.waitForBytes(Self.part, of: id)
        return id
    }

    /// Answers that take longer than this are late, also on a computer that is busy.
    private func inTime<Value: Sendable>(
        _ what: String,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await within("\(what) to be answered", limit: .seconds(10), body)
    }

    private func holdsUpNobody(_ kind: HangingDisk.Kind) async throws {
        let goesOn = FaultServer.Gate()
        let host = try host(goesOn)
        defer { host.stop() }
        // Within: a process that hangs in a call cannot even be killed.
        try await withService { service in
            try await withHangingDisk(kind) { disk in
                let client = service.client
                // Those that hang keep their slots.
                try await client.set(.maxConcurrentDownloads, to: .number(5))
                let paused = try await add("stuck-1", of: host, to: disk, service)
                let removed = try await add("stuck-2", of: host, to: disk, service)
                let left = try await add("stuck-3", of: host, to: disk, service)
                try await disk.hang()
                goesOn.open()

                // The other disk has transfer threads of its own.
                let other = try await service.add(host.url("/paced"))
                try await service.waitForState("completed", of: other, limit: .seconds(30))
                for id in [paused, removed, left] {
                    #expect(try await service.state(of: id) == "downloading")
                    try await soon("the reason why it stands") {
                        try await client.explain(id) == ["its disk does not answer"]
                    }
                    #expect(try await client.explainCodes(id) == [TaskReason("disk")])
                }
                #expect(try await client.explain(other).isEmpty)
                if kind == .stoppedProgram {
                    // Nor does whoever names it by a link hold up others.
                    let link = service.home.path + "/link"
                    try #require(symlink(disk.path, link) == 0)
                    let code = try await inTime("a task for a link to it") {
                        await refusal("a link to a folder that hangs") {
                            _ = try await service.add(host.url("/small")) { $0.directory = link }
                        }
                    }
                    #expect(code == .invalidDestination)
                }
                let new = try await inTime("a new task") {
                    try await service.add(host.url("/small"))
                }
                try await service.waitForState("completed", of: new, limit: .seconds(30))
                #expect(try await client.listTasks().count == 5)
                // A frozen one still answers those who only look.
                if kind == .stoppedProgram {
                    let code = try await inTime("a task for the disk that hangs") {
                        await refusal("a folder that hangs") {
                            _ = try await service.add(host.url("/small")) {
                                $0.directory = disk.path
                            }
                        }
                    }
                    #expect(code == .invalidDestination)
                    let open = try await inTime("OpenFile") {
                        await refusal("a file that hangs") { _ = try await client.openFile(left) }
                    }
                    #expect(open == .invalidDestination)
                }
                try await inTime("Pause") { try await client.pause(paused) }
                #expect(try await service.state(of: paused) == "paused")
                try await inTime("Remove") { try await client.remove(removed) }
                #expect(try await client.listTasks().count == 4)

                try await disk.answer()
                try await service.waitForState("completed", of: left)
                try await client.resume(paused)
                try await service.waitForState("completed", of: paused)
                for name in ["stuck-1", "stuck-3"] {
                    #expect(try large.firstDifference(fromFile: "\(disk.path)/\(name)") == nil)
                }
                let files = disk.mirror ?? disk.path
                try await soon("the files of the removed task to be gone") {
                    TestFile.names(in: files).filter { $0 != "lost+found" }
                        == ["stuck-1", "stuck-3"]
                }
            }
        }
    }

    @Test(.enabled("needs fuse(4) and python3-fuse") { await HangingDisk.canMount(program) })
    func `a server of files that stops answering holds up nobody else`() async throws {
        try await holdsUpNobody(.stoppedProgram)
    }

    @Test(.enabled("needs to mount and to freeze an image") { await HangingDisk.canMount(image) })
    func `a local disk that stops answering holds up nobody else`() async throws {
        try await holdsUpNobody(.frozenImage)
    }

    @Test(.enabled("needs fuse(4) and python3-fuse") { await HangingDisk.canMount(program) })
    func `a disk of the settings file that hangs holds up changes of settings and nothing else`()
        async throws
    {
        try await withService { service in
            try await withHangingDisk(.stoppedProgram) { disk in
                let client = service.client
                let folder = service.home.config + "/idown"
                mkdir(folder, 0o700)
                // A link that leads nowhere is a mistake.
                try TestFile.write("{}", to: disk.path + "/own.json")
                try #require(symlink(disk.path + "/own.json", folder + "/settings.json") == 0)
                try await client.set(.speedLimit, to: .number(5))
                #expect(try TestFile.text(of: disk.path + "/own.json").contains("5"))
                try await disk.hang()
                let change = Task { try await client.set(.speedLimit, to: .number(6)) }
                for number in 1...500 {
                    _ = try await inTime("call \(number)") { try await client.taskCount() }
                }
                let before = try await inTime("a setting") {
                    try await client.value(of: .speedLimit)
                }
                #expect(before == .number(5))
                try await disk.answer()
                try await change.value
                #expect(try await client.value(of: .speedLimit) == .number(6))
                #expect(try TestFile.text(of: disk.path + "/own.json").contains("6"))
            }
        }
    }

    @Test(.enabled("needs fuse(4) and python3-fuse") { await HangingDisk.canMount(program) })
    func `who names a disk that hangs is refused, and adds elsewhere at once`() async throws {
        let host = try host(FaultServer.Gate())
        defer { host.stop() }
        try await withService { service in
            try await withHangingDisk(.stoppedProgram) { disk in
                let client = service.client
                let id = try await service.add(host.url("/small")) {
                    $0.directory = disk.path
                    $0.paused = true
                }
                try await disk.hang()
                let edit = try await inTime("SetOptions") {
                    await refusal("a name on it") {
                        var options = EditOptions()
                        options.values.filename = "other"
                        options.values.onExisting = .fail
                        try await client.setOptions(options, of: id)
                    }
                }
                #expect(edit == .invalidDestination)
                let metalink = try await inTime("AddMetalink") {
                    await refusal("a metalink on it") {
                        _ = try await client.addMetalink(at: disk.path + "/a.meta4")
                    }
                }
                #expect(metalink == .invalidURL)
                let new = try await inTime("the next call") {
                    try await client.addURL(host.url("/small"))
                }
                try await service.waitForState("completed", of: new)
                try await disk.answer()
            }
        }
    }

    @Test(.enabled("needs fuse(4) and python3-fuse") { await HangingDisk.canMount(program) })
    func `downloads that hang give up their slots, and take them again`() async throws {
        let (goesOn, later) = (FaultServer.Gate(), FaultServer.Gate())
        let host = try host(goesOn, held: later)
        defer { host.stop() }
        try await withService { service in
            try await withHangingDisk(.stoppedProgram) { disk in
                let client = service.client
                try await client.set(.maxConcurrentDownloads, to: .number(1))
                let stuck = try await add("stuck", of: host, to: disk, service)
                let there = try await service.add(host.url("/small")) { $0.directory = disk.path }
                try await disk.hang()
                goesOn.open()
                let next = try await service.add(host.url("/small"))
                let held = try await service.add(host.url("/held"))
                let last = try await service.add(host.url("/small")) { $0.filename = "last" }
                // The wait for the disk is over in ten seconds, although nobody calls.
                try await service.waitForState("completed", of: next, limit: .seconds(30))
                try await service.waitForBytes(Self.part, of: held)
                #expect(try await service.state(of: stuck) == "downloading")
                #expect(try await service.state(of: there) == "waiting")
                #expect(try await client.explain(there) == ["its disk does not answer"])
                #expect(
                    try await client.explain(last)
                        == ["queue: 2 of 1 running, 1 of them on a disk that does not answer"]
                )
                try await disk.answer()
                try await service.waitForState("completed", of: stuck)
                #expect(try await service.state(of: held) == "downloading")
                try await soon("the other download to wait for a slot alone") {
                    try await client.explain(there) == ["queue: 1 of 1 running"]
                }
                later.open()
                for id in [there, held, last] {
                    try await service.waitForState("completed", of: id)
                }
            }
        }
    }

    @Test(.enabled("needs fuse(4) and python3-fuse") { await HangingDisk.canMount(program) })
    func `downloads that hang give up their places at their host`() async throws {
        let host = try host(FaultServer.Gate())
        defer { host.stop() }
        try await withService { service in
            try await withHangingDisk(.stoppedProgram) { disk in
                let client = service.client
                var stuck: [String] = []
                for name in ["wide-1", "wide-2"] {
                    let id = try await service.add(host.url("/\(name)")) {
                        $0.directory = disk.path
                        $0.connections = 8
                    }
                    stuck.append(id)
                }
                // As many as a host gets from all tasks together.
                for id in stuck {
                    try await soon("eight connections") {
                        try await client.getTask(id).connections == 8
                    }
                }
                try await disk.hang()
                // Until they stand, they leave a place to a download that waits for its first one.
                for id in stuck {
                    try await soon("the reason why it stands") {
                        try await client.explain(id) == ["its disk does not answer"]
                    }
                }
                let next = try await service.add(host.url("/small"))
                try await service.waitForState("completed", of: next, limit: .seconds(30))
                // Nor does one keep a place that nobody wants any more.
                try await inTime("Remove") { [stuck] in try await client.remove(stuck[0]) }
                let last = try await service.add(host.url("/small")) { $0.filename = "last" }
                try await service.waitForState("completed", of: last, limit: .seconds(30))
                try await disk.answer()
                try await service.waitForState("completed", of: stuck[1])
                #expect(try large.firstDifference(fromFile: "\(disk.path)/wide-2") == nil)
            }
        }
    }

    @Test(.enabled("needs fuse(4) and python3-fuse") { await HangingDisk.canMount(program) })
    func `a download whose move waits for a disk that hangs gives up its slot`() async throws {
        let goesOn = FaultServer.Gate()
        let host = try host(goesOn)
        defer { host.stop() }
        try await withService { service in
            try await withHangingDisk(.stoppedProgram) { disk in
                let client = service.client
                try await client.set(.maxConcurrentDownloads, to: .number(1))
                let moved = try await add("moved", of: host, to: disk, service)
                // Nothing is left to be written then, and the transfer ends although the disk hangs.
                try await client.pause(moved)
                try await client.resume(moved)
                try await soon("the next request") {
                    try await client.getTask(moved).connections == 1
                }
                try await disk.hang()
                try await inTime("SetOptions") {
                    var options = EditOptions()
                    options.values.directory = service.home.path + "/elsewhere"
                    try await client.setOptions(options, of: moved)
                }
                let next = try await service.add(host.url("/small"))
                try await service.waitForState("completed", of: next, limit: .seconds(30))
                let task = try await client.getTask(moved)
                #expect(task.state == .downloading && task.activity == .moving)
                try await disk.answer()
                goesOn.open()
                try await service.waitForState("completed", of: moved)
                let path = try await client.getTask(moved).path
                #expect(try large.firstDifference(fromFile: path) == nil)
            }
        }
    }

    @Test(
        .enabled("needs fuse(4) and python3-fuse") { await HangingDisk.canMount(program) },
        arguments: [true, false]
    )
    func `edit waits for a move from a disk that hangs, and tells how it has ended`(
        isThere: Bool
    ) async throws {
        let host = try host(FaultServer.Gate())
        defer { host.stop() }
        try await withService { service in
            try await withHangingDisk(.stoppedProgram) { disk in
                let id = try await add("held", of: host, to: disk, service)
                try await service.client.pause(id)
                try await service.waitForState("paused", of: id)
                try await disk.hang()
                let elsewhere = service.home.path + "/elsewhere"
                let edit = try await ChildProcess.start(
                    try BuiltProgram("idown").path,
                    ["edit", id, "-d", elsewhere],
                    environment: service.environment
                )
                let notice = "Waiting until the file is moved"
                try await soon("a word about the wait") { edit.standardError.contains(notice) }
                #expect(try await service.client.getTask(id).activity == .moving)
                if !isThere { #expect(rmdir(elsewhere) == 0) }
                try await disk.answer()
                let status = try await within("edit to end") { await edit.waitForExit() }
                #expect(status == .exited(isThere ? 0 : 12), "\(edit.standardError)")
                let isTold = edit.standardError.contains("idown: download \(id): ")
                #expect(isTold == !isThere, "\(edit.standardError)")
                let folder = try await service.client.getTask(id).directory
                #expect(folder == (isThere ? elsewhere : disk.path))
            }
        }
    }

    @Test(.enabled("needs fuse(4) and python3-fuse") { await HangingDisk.canMount(program) })
    func `a number that is lowered while a disk hangs counts once the disk answers`() async throws {
        let held = FaultServer.Gate()
        let host = try host(FaultServer.Gate(), held: held)
        defer { host.stop() }
        try await withService { service in
            try await withHangingDisk(.stoppedProgram) { disk in
                let client = service.client
                try await client.set(.maxConcurrentDownloads, to: .number(2))
                let stuck = try await service.add(host.url("/slow")) { $0.directory = disk.path }
                try await service.waitForBytes(200_000, of: stuck)
                let last = try await service.add(host.url("/held"))
                try await service.waitForBytes(Self.part, of: last)
                try await disk.hang()
                let next = try await service.add(host.url("/small")) { $0.filename = "next" }
                try await service.waitForState("completed", of: next, limit: .seconds(30))
                try await client.set(.maxConcurrentDownloads, to: .number(1))
                #expect(try await service.state(of: last) == "downloading")
                try await disk.answer()
                try await service.waitForState("waiting", of: last)
                #expect(try await service.state(of: stuck) == "downloading")
                held.open()
                for id in [stuck, last] { try await service.waitForState("completed", of: id) }
            }
        }
    }

    @Test(.enabled("needs fuse(4) and python3-fuse") { await HangingDisk.canMount(program) })
    func `a command that needs a disk that hangs says so, and waits for it or for Ctrl-C`()
        async throws
    {
        let host = try host(FaultServer.Gate())
        defer { host.stop() }
        try await withService { service in
            try await withHangingDisk(.stoppedProgram) { disk in
                let url = host.url("/small")
                try TestFile.write(url, to: try #require(disk.mirror) + "/list")
                try TestFile.write("", to: try #require(disk.mirror) + "/cookies")
                let id = try await service.add(url) { $0.directory = disk.path }
                try await service.waitForState("completed", of: id)
                try await service.client.set(.downloadDirectory, to: .text(disk.path))
                try await disk.hang()
                // There is no desktop that opens and shows files.
                let commands: [([String], ChildProcess.ExitStatus)] = [
                    (["open", id], .exited(1)), (["reveal", id], .exited(1)),
                    (["verify", id], .exited(0)), (["add", "-i", disk.path + "/list"], .exited(0)),
                    (["add", "-c", "-d", disk.path, url], .exited(0)),
                    (["config", "cookie-file", disk.path + "/cookies"], .exited(0)),
                    (["add", url], .exited(0)),
                ]
                let program = try BuiltProgram("idown").path
                @Sendable func start(_ words: [String]) async throws -> ChildProcess {
                    try await .start(
                        program,
                        words,
                        environment: service.environment,
                        workingDirectory: service.home.path
                    )
                }
                @Sendable func waits(_ child: ChildProcess) async throws {
                    try await soon("a word about the disk") {
                        child.standardError.contains("does not answer; waiting for it")
                    }
                }
                // Before the others: only the first that asks the disk for a name can be killed.
                let interrupted = try await start(["verify", id])
                try await waits(interrupted)
                interrupted.send(SIGINT)
                let end = try await within("the end") { await interrupted.waitForExit() }
                #expect(end == .signaled(SIGINT))
                let home = ["XDG_CONFIG_HOME": disk.path, "XDG_DATA_HOME": disk.path]
                let told = try await idown(["doctor"], in: service, environment: home)
                #expect(told.status == .exited(1), "\(told)")
                #expect(told.standardOutput.contains("own folders"), "\(told)")
                var waiting: [ChildProcess] = []
                for (words, _) in commands { waiting.append(try await start(words)) }
                for child in waiting { try await waits(child) }
                try await disk.answer()
                for ((words, status), child) in zip(commands, waiting) {
                    let ended = try await within("\(words)") { await child.waitForExit() }
                    #expect(ended == status, "\(words): \(child.standardError)")
                }
            }
        }
    }

    @Test(.enabled("needs fuse(4) and python3-fuse") { await HangingDisk.canMount(program) })
    func `the live list waits ten seconds for the disk of a file that it is to open`() async throws
    {
        let host = try host(FaultServer.Gate())
        defer { host.stop() }
        try await withService { service in
            try await withHangingDisk(.stoppedProgram) { disk in
                let id = try await service.add(host.url("/small")) { $0.directory = disk.path }
                try await service.waitForState("completed", of: id)
                try await disk.hang()
                let terminal = try await TmuxTerminal.start(
                    "'\(try BuiltProgram("idown").path)' watch; cat",
                    in: service.home.path,
                    size: (80, 24),
                    environment: service.environment
                )
                do {
                    try await terminal.wait(for: "completed")
                    try await terminal.press("Enter")
                    try await terminal.wait(for: "its disk does not answer")
                    try await terminal.press("i")
                    try await terminal.wait(for: "Folder:")
                } catch {
                    await terminal.stop()
                    throw error
                }
                await terminal.stop()
                try await disk.answer()
            }
        }
    }

    @Test(.enabled("needs fuse(4) and python3-fuse") { await HangingDisk.canMount(program) })
    func `a finished file on a disk that hangs is renamed later, or its task tells why not`()
        async throws
    {
        let host = try host(FaultServer.Gate())
        defer { host.stop() }
        try await withService { service in
            try await withHangingDisk(.stoppedProgram) { disk in
                let client = service.client
                let files = try #require(disk.mirror)
                let id = try await service.add(host.url("/small")) { $0.directory = disk.path }
                try await service.waitForState("completed", of: id)
                try TestFile.write("mine", to: files + "/taken")
                for (name, code) in [("new", ""), ("taken", "File.Exists")] {
                    try await disk.hang()
                    // One look at the disk waits for 2 s, and no further one does.
                    try await within("SetOptions to be answered", limit: .seconds(3.5)) {
                        var options = EditOptions()
                        options.values.filename = name
                        try await client.setOptions(options, of: id)
                    }
                    #expect(try await client.getTask(id).activity == .moving)
                    try await disk.answer()
                    try await soon("the end of the move") {
                        try await client.getTask(id).activity != .moving
                    }
                    let task = try await client.getTask(id)
                    #expect(task.path == disk.path + "/new")
                    #expect(task.errorCode == code)
                    #expect(TestFile.names(in: files) == ["new", "taken"])
                }
            }
        }
    }

    @Test(.enabled("needs fuse(4) and python3-fuse") { await HangingDisk.canMount(program) })
    func `a closed folder that hangs holds up no download, and stays closed`() async throws {
        let host = try host(FaultServer.Gate())
        defer { host.stop() }
        try await withService { service in
            try await withHangingDisk(.stoppedProgram) { disk in
                let cache = service.home.path + "/.cache"
                try #require(rmdir(cache) == 0 && symlink(disk.path, cache) == 0)
                @Sendable func addThere() async throws {
                    _ = try await service.add(host.url("/small")) { $0.directory = disk.path }
                }
                #expect(await refusal("a closed folder", addThere) == .invalidDestination)
                try await disk.hang()
                for number in 1...3 {
                    let new = try await inTime("task \(number)") {
                        try await service.add(host.url("/small"))
                    }
                    try await service.waitForState("completed", of: new)
                }
                try await disk.answer()
                #expect(await refusal("a closed folder", addThere) == .invalidDestination)
                try #require(unlink(cache) == 0 && mkdir(cache, 0o700) == 0)
                try await soon("the link to be forgotten") {
                    (try? await addThere()) != nil
                }
            }
        }
    }

    @Test(.enabled("needs fuse(4) and python3-fuse") { await HangingDisk.canMount(program) })
    func `files that wait for the trash of a disk that hangs hold up no other call`() async throws {
        let host = try host(FaultServer.Gate())
        defer { host.stop() }
        try await withService { service in
            try await withHangingDisk(.stoppedProgram) { disk in
                let client = service.client
                let id = try await service.add(host.url("/small")) { $0.directory = disk.path }
                try await service.waitForState("completed", of: id)
                try await disk.hang()
                var options = RemoveOptions()
                options.trashFiles = true
                let removals = (0..<200).map { [options] _ in
                    Task.immediate { try await client.removeTasks([id], options: options) }
                }
                let new = try await inTime("the next call") {
                    try await client.addURL(host.url("/small"))
                }
                try await service.waitForState("completed", of: new)
                try await disk.answer()
                var removed: UInt32 = 0
                for removal in removals { removed += try await removal.value }
                let files = TestFile.names(in: try #require(disk.mirror))
                #expect(removed == 1 && !files.contains("small"), "\(removed), \(files)")
            }
        }
    }

    @Test(.enabled("needs fuse(4) and python3-fuse") { await HangingDisk.canMount(program) })
    func `the service ends although a disk hangs, and goes on from there`() async throws {
        let goesOn = FaultServer.Gate()
        let host = try host(goesOn)
        defer { host.stop() }
        try await withService { service in
            try await withHangingDisk(.stoppedProgram) { disk in
                let id = try await add("stuck", of: host, to: disk, service)
                try await disk.hang()
                goesOn.open()
                // The kernel keeps the process until the disk answers (FUSE_FLUSH at its exit); name
                // and lock are free before.
                kill(try await service.processID(), SIGTERM)
                try await soon("the name to be free") {
                    (try? await service.processID()) == nil
                }
                // The new one looks after the file, and does not wait for it.
                try await service.start()
                let new = try await service.add(host.url("/small"))
                try await service.waitForState("completed", of: new)
                try await disk.answer()
                try await service.waitForState("completed", of: id)
                #expect(try large.firstDifference(fromFile: "\(disk.path)/stuck") == nil)
            }
        }
    }
}
