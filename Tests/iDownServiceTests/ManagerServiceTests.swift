// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Testing
import iDownBus
import iDownData
import iDownState
import iDownTesting
import iDownloader

@testable import iDownService

/// The service as clients on a bus see it.
@Suite struct ManagerServiceTests {
    @Test func `a URL becomes a file in the user's folder`() async throws {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        try await withService { scene in
            let id = try await scene.client.addURL(server.url("/a.bin?token=SECRET"))
            try await scene.wait(for: id, .completed)
            let task = try await scene.client.getTask(id)
            #expect(task.path == scene.home.download("a.bin"))
            #expect(task.url.hasSuffix("?token=SECRET"))
            let difference = try TestContent.small.firstDifference(fromFile: task.path)
            #expect(difference == nil)
            let tasks = try await scene.client.listTasks()
            #expect(tasks == [task])
            for signal in scene.signals.signals {
                #expect(!"\(signal.arguments)".contains("SECRET"))
            }
        }
    }

    @Test func `what is asked again is told as it is by then`() async throws {
        try await withService { scene in
            var options = AddOptions()
            options.paused = true
            let id = try await scene.client.addURL("http://127.0.0.1:9/", options: options)
            let object = scene.proxy.at(TaskPath(id: id)?.objectPath, Contract.taskInterface)
            for priority in Int32(1)...2 {
                try await scene.client.setPriority(priority, of: id)
                let first = try await scene.client.getTask(id)
                #expect(first.priority == priority)
                #expect(try await scene.client.getTask(id) == first)
                for _ in 0..<2 {
                    #expect(try await object.get("Priority", as: Int32.self) == priority)
                    #expect(try await scene.proxy.get("TaskCount", as: UInt32.self) == 1)
                }
            }
            try await scene.client.remove(id)
            for _ in 0..<2 {
                #expect(await code { _ = try await scene.client.getTask(id) } == .noSuchTask)
                #expect(try await scene.proxy.get("TaskCount", as: UInt32.self) == 0)
            }
        }
    }

    @Test func `TaskAdded comes before the reply`() async throws {
        try await withService { scene in
            var options = AddOptions()
            options.paused = true
            let id = try await scene.client.addURL("http://127.0.0.1:9/", options: options)
            // One connection receives both, in the order of their sending.
            let added = scene.signals.signals.contains { signal in
                Contract.Signal.taskAdded.contents(of: signal)?.0 == id
            }
            #expect(added)
        }
    }

    @Test func `ids follow the order of a client's calls, however long each takes to judge`()
        async throws
    {
        try await withService { scene in
            let client = scene.client
            var options = AddOptions()
            options.paused = true
            let (many, one) = (options, options)
            // So many URLs are read away from the bus; a task that starts at once sends at once.
            let first = Task.immediate {
                try await client.addURLs(
                    (0..<2_000).map { "http://127.0.0.1:9/many/\($0)" },
                    options: many
                )
            }
            let others = (0..<300).map { number in
                Task.immediate {
                    try await client.addURL("http://127.0.0.1:9/\(number)", options: one)
                }
            }
            var ids = try await first.value.compactMap { Int($0) }
            for other in others { ids += [Int(try await other.value) ?? 0] }
            #expect(ids.count == 2_300)
            #expect(ids == ids.sorted())
        }
    }

    @Test func `a bad call among many is refused alone`() async throws {
        try await withService { scene in
            let client = scene.client
            let calls = (0..<150).map { number in
                Task.immediate {
                    var options = AddOptions()
                    options.paused = true
                    // A folder of its own now and then is looked at for itself.
                    if number % 5 == 0 { options.directory = scene.home.download("\(number)") }
                    if number % 11 == 0 { options.directory = "relative" }
                    let url = number % 7 == 0 ? "http:///\(number)" : "http://127.0.0.1:9/\(number)"
                    return try await client.addURL(url, options: options)
                }
            }
            var last = 0
            for (number, call) in calls.enumerated() {
                let code = await code { _ = try await call.value }
                guard number % 7 != 0, number % 11 != 0 else {
                    #expect(code == (number % 7 == 0 ? .invalidURL : .invalidDestination))
                    continue
                }
                #expect(code == nil)
                guard code == nil else { continue }
                let id = try await call.value
                let task = try await client.getTask(id)
                let folder = number % 5 == 0 ? scene.home.download("\(number)") : nil
                #expect(task.directory == folder ?? scene.home.downloads)
                #expect(Int(id) ?? 0 > last)
                last = Int(id) ?? 0
            }
        }
    }

    @Test func `every call of a commit that fails is answered with StoreFailed`() async throws {
        try await withService { scene in
            let client = scene.client
            // They may share one commit, or have one each.
            for number in 0..<50 { scene.faults.failNext(after: number) }
            let calls = (0..<50).map { number in
                Task.immediate { try await client.addURL("http://127.0.0.1:9/\(number)") }
            }
            for call in calls {
                #expect(await code { _ = try await call.value } == .storeFailed)
            }
            let tasks = try await client.listTasks()
            #expect(tasks.isEmpty)
        }
    }

    @Test func `FindTasks tells what is asked for`() async throws {
        try await withService { scene in
            var options = AddOptions()
            options.paused = true
            let id = try await scene.client.addURL("http://127.0.0.1:9/a", options: options)
            var query = TaskQuery()
            query.properties = [.state, .id]
            let (page, total) = try await scene.client.findTasks(query)
            var task = TaskProperties()
            task.id = id
            task.state = .paused
            task.serial = try await scene.client.serial()
            #expect(page == [task])
            #expect(total == 1)
        }
    }

    @Test func `a long list comes whole and in order, page beside page`() async throws {
        try await withService { scene in
            var options = AddOptions()
            options.paused = true
            let ids = try await scene.client.addURLs(
                (0..<11_000).map { "http://127.0.0.1:9/\($0)" },
                options: options
            )
            var query = TaskQuery()
            query.properties = [.id]
            let found = try await scene.client.allTasks(query).map(\.id)
            let isEqual = found == ids
            #expect(isEqual)
            query.descending = true
            query.states = [.failed]
            #expect(try await scene.client.allTasks(query).isEmpty)
        }
    }

    @Test func `a known token is answered whatever stands beside it`() async throws {
        try await withService { scene in
            var options = AddOptions()
            options.paused = true
            options.token = "blind"
            let id = try await scene.client.addURL("http://127.0.0.1:9/", options: options)
            options.directory = scene.home.config
            #expect(try await scene.client.addURL("no url", options: options) == id)
            try await scene.client.remove(id)
            #expect(try await scene.client.addURL("ftp://x/", options: options) == id)
        }
    }

    @Test func `errors have the contract's names`() async throws {
        try await withService { scene in
            let client = scene.client
            #expect(await code { _ = try await client.addURL("nonsense") } == .invalidURL)
            #expect(
                await code { _ = try await client.addURL("gopher://e.org/") } == .unsupportedScheme
            )
            for id in ["99", "", "-1", "x", "01", String(repeating: "9", count: 1000)] {
                #expect(await code { try await client.pause(id) } == .noSuchTask)
                #expect(await code { _ = try await client.getTask(id) } == .noSuchTask)
            }
            var options = AddOptions()
            options.directory = scene.home.config + "/autostart"
            #expect(
                await code { _ = try await client.addURL("http://e.org/", options: options) }
                    == .invalidDestination
            )
            #expect(await code { try await client.open([""]) } == .invalidURL)
            let many = Array(repeating: "http://e.org/", count: Contract.maximumURLs + 1)
            #expect(await code { _ = try await client.addURLs(many) } == .limitExceeded)
            let unknown: [String: Value] = ["when-done-command": .string("rm")]
            #expect(
                await code {
                    try await scene.proxy.call("AddURLWithOptions", "http://e.org/", unknown)
                } == .invalidOption
            )
            #expect(
                await code { try await scene.proxy.call("AddURL", UInt32(7)) } == .invalidArguments
            )
            let tasks = try await client.listTasks()
            #expect(tasks.isEmpty)
        }
    }

    @Test func `a list that cannot be written is StoreFailed, and nothing has changed`()
        async throws
    {
        try await withService { scene in
            var options = AddOptions()
            options.paused = true
            let id = try await scene.client.addURL("http://127.0.0.1:9/", options: options)
            scene.faults.failNext()
            #expect(await code { try await scene.client.cancel(id) } == .storeFailed)
            #expect(try await scene.client.getTask(id).state == .paused)
            try await scene.client.cancel(id)
            #expect(try await scene.client.getTask(id).state == .cancelled)
        }
    }

    @Test func `a fresh link is judged as any other, and told without its query`() async throws {
        let server = try FaultServer.serving(ServedFile(.small))
        defer { server.stop() }
        try await withService { scene in
            let client = scene.client
            var options = AddOptions()
            options.paused = true
            let id = try await client.addURL("http://127.0.0.1:9/a", options: options)
            #expect(await code { try await client.setURL(id, to: "http:///x") } == .invalidURL)
            #expect(
                await code { try await client.setURL(id, to: "gopher://host/x") }
                    == .unsupportedScheme
            )
            #expect(
                await code { try await client.setURL("99", to: server.url("/x")) } == .noSuchTask
            )
            try await client.setURL(id, to: server.url("/a?token=SECRET"))
            #expect(try await client.getTask(id).state == .paused)
            #expect(try await client.getTask(id).url == server.url("/a?token=SECRET"))
            try await client.resume(id)
            try await scene.wait(for: id, .completed)
            #expect(
                await code { try await client.setURL(id, to: server.url("/b")) } == .invalidState
            )
            let signals = scene.signals.signals.map(\.arguments)
            #expect(!"\(signals)".contains("SECRET"))
        }
    }

    @Test func `counts follow what happens`() async throws {
        try await withService { scene in
            var options = AddOptions()
            options.paused = true
            for number in 1...3 {
                _ = try await scene.client.addURL("http://127.0.0.1:9/\(number)", options: options)
            }
            #expect(try await scene.client.taskCount() == 3)
            #expect(try await scene.client.waitingCount() == 0)
            #expect(try await scene.client.activeCount() == 0)
            #expect(try await scene.client.speed() == 0)
            #expect(try await scene.client.pauseAll() == 0)
            #expect(try await scene.client.clearCompleted() == 0)
        }
    }

    @Test func `AddURLs is all or nothing`() async throws {
        try await withService { scene in
            var options = AddOptions()
            options.paused = true
            let urls = ["http://127.0.0.1:9/1", "http://127.0.0.1:9/2"]
            let bad = urls + ["nonsense?SECRET"]
            let error = await #expect(throws: ManagerError.self) {
                _ = try await scene.client.addURLs(bad, options: options)
            }
            #expect(error?.code == .invalidURL)
            #expect(error?.message.contains("URL 3") == true)
            #expect(error?.message.contains("SECRET") == false)
            #expect(try await scene.client.taskCount() == 0)
            let ids = try await scene.client.addURLs(urls, options: options)
            #expect(try await scene.client.listTasks().map(\.id) == ids)
        }
    }

    /// Writes a metalink of files on port 9, where nobody answers.
    private func writeMetalink(of names: [String], to path: String) throws {
        let files = names.map { name in
            "<file name=\"\(name)\"><url>http://127.0.0.1:9/\(name)</url></file>"
        }
        try TestFile.write(
            "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">\(files.joined())</metalink>",
            to: path
        )
    }

    @Test func `AddMetalink gives the ids of the files in their order, also those that are there`()
        async throws
    {
        try await withService { scene in
            let client = scene.client
            let path = scene.home.path + "/a.meta4"
            try writeMetalink(of: ["b", "a", "b"], to: path)
            var options = AddOptions()
            options.paused = true
            let first = try await client.addMetalink(at: path, options: options)
            #expect(first.count == 3)
            #expect(first[0] == first[2])
            #expect(try await client.listTasks().map(\.fileName) == ["b", "a"])
            #expect(try await client.listTasks().map(\.state) == [.paused, .paused])
            #expect(try await client.addMetalink(at: path, options: options) == first)
            options.directory = scene.home.download("inside")
            options.token = "one"
            let second = try await client.addMetalink(at: path, options: options)
            #expect(Set(second).isDisjoint(with: first))
            #expect(
                try await client.getTask(second[1]).directory == scene.home.download("inside")
            )
            // A blind repeat, the metalink of which is gone.
            #expect(try await client.addMetalink(at: "/a.meta4", options: options) == second)
        }
    }

    @Test func `AddMetalink is all or nothing`() async throws {
        try await withService { scene in
            let client = scene.client
            let path = scene.home.path + "/a.meta4"
            try writeMetalink(of: ["a", "taken"], to: path)
            var options = AddOptions()
            options.directory = scene.home.download("inside")
            options.paused = true
            options.onExisting = .fail
            _ = mkdir(scene.home.downloads, 0o700)
            #expect(mkdir(scene.home.download("inside"), 0o700) == 0)
            try TestFile.write("", to: scene.home.download("inside/taken"))
            #expect(
                await code { _ = try await client.addMetalink(at: path, options: options) }
                    == .fileExists
            )
            options.directory = scene.home.config + "/autostart"
            #expect(
                await code { _ = try await client.addMetalink(at: path, options: options) }
                    == .invalidDestination
            )
            try TestFile.write("<html/>", to: path)
            #expect(await code { _ = try await client.addMetalink(at: path) } == .invalidURL)
            scene.faults.failNext()
            try writeMetalink(of: ["a", "b"], to: path)
            #expect(await code { _ = try await client.addMetalink(at: path) } == .storeFailed)
            #expect(try await client.taskCount() == 0)
        }
    }

    @Test func `AddMany adds downloads with options of their own, and repeats by their tokens`()
        async throws
    {
        try await withService { scene in
            let client = scene.client
            let downloads = (1...3).map { number in
                var options = AddOptions()
                options.paused = true
                options.filename = "file\(number).bin"
                options.priority = Int32(number)
                options.token = number == 1 ? nil : "token \(number)"
                options.directory = scene.home.download(number == 3 ? "other" : "inside")
                return NewDownload("http://e.org/\(number)", options: options)
            }
            let ids = try await client.addMany(downloads)
            #expect(Set(ids).count == 3)
            let tasks = try await client.getTasks(ids)
            #expect(tasks.map(\.fileName) == ["file1.bin", "file2.bin", "file3.bin"])
            #expect(tasks.map(\.priority) == [1, 2, 3])
            #expect(tasks[2].directory == scene.home.download("other"))
            // The tokens stand for their tasks, whatever else the call says and where they have gone.
            try await client.remove(ids[1])
            var repeated = downloads
            repeated[1].url = "nonsense"
            repeated[2].options.directory = "/proc/none"
            repeated.insert(NewDownload("http://e.org/new", options: downloads[0].options), at: 0)
            repeated[0].options.token = "twice"
            repeated.append(repeated[0])
            let again = try await client.addMany(repeated)
            #expect(Array(again[1...3]) == ids)
            #expect(again[0] == again[4] && !ids.contains(again[0]))
            #expect(try await client.addMany([]) == [])
            #expect(try await client.taskCount() == 3)
        }
    }

    @Test func `an empty user-agent and an expected size of 0 are none`() async throws {
        try await withService { scene in
            var options = AddOptions()
            options.paused = true
            (options.userAgent, options.expectedSize) = ("", 0)
            let id = try await scene.client.addURL("https://a.example/b", options: options)
            let task = try await scene.coordinator.task(#require(TaskID(id)))
            let request = task.record.request
            #expect(request.userAgent == nil && request.expectedSize == nil)
        }
    }

    @Test func `what a page can fire puts no link under a task of another site`() async throws {
        try await withService { scene in
            let client = scene.client
            var options = AddOptions()
            options.paused = true
            options.filename = "bank.pdf"
            options.expectedSize = 1000
            options.referrer = "https://bank.example/"
            let url = "https://bank.example/bank.pdf?key=1"
            let id = try await client.addURL(url, options: options)
            let before = try await client.getTask(id)
            let page = "https://page.example/bank.pdf?key=1"
            for uri in [
                page, "https://bank.example.page.example/bank.pdf?key=1",
                "https://bank.example@page.example/bank.pdf?key=1",
                "idown:?url=https%3A%2F%2Fpage.example%2Fother%2Fbank.pdf",
                "https://bank.example/bank.pdf?key=2",
            ] {
                try await client.open([uri])
                #expect(try await client.getTask(id) == before, "\(uri)")
            }
            // This is the page's own download, by its URL and the name that it shows while it rests.
            _ = try await client.pauseAll()
            #expect(try await client.addURL(page, options: options) != id)
            #expect(try await client.getTask(id) == before)
            #expect(try await client.taskCount() == 6)
        }
    }

    @Test func `AddMany is all or nothing, and its errors name the place`() async throws {
        try await withService { scene in
            let client = scene.client
            _ = mkdir(scene.home.downloads, 0o700)
            try TestFile.write("", to: scene.home.downloads + "/taken")
            func refusal(
                _ url: String = "http://e.org/x",
                _ change: (inout AddOptions) -> Void = { _ in }
            ) async -> ManagerError? {
                var options = AddOptions()
                options.paused = true
                let good = NewDownload("http://e.org/good", options: options)
                change(&options)
                let bad = NewDownload(url, options: options)
                return await #expect(throws: ManagerError.self) {
                    _ = try await client.addMany([good, bad, good])
                }
            }
            let refusals: [(ManagerError.Code, ManagerError?)] = [
                (.invalidURL, await refusal("nonsense")),
                (.unsupportedScheme, await refusal("gopher://e.org/")),
                (.invalidOption, await refusal { $0.connections = 17 }),
                (.invalidOption, await refusal { $0.checksum = "md5=1" }),
                (.invalidOption, await refusal { $0.mirrors = ["x"] }),
                (.invalidDestination, await refusal { $0.directory = "relative" }),
                (
                    .fileExists,
                    await refusal {
                        $0.filename = "taken"
                        $0.onExisting = .fail
                    }
                ),
            ]
            for (code, error) in refusals {
                #expect(error?.code == code, "\(error?.message ?? "")")
                #expect(error?.message.hasPrefix("task 2: ") == true, "\(error?.message ?? "")")
            }
            // The folder of the first is not made where that of the second is refused.
            let folders = ["new", ".hidden"].map { scene.home.path + "/" + $0 }
            let placed = folders.map { folder in
                var options = AddOptions()
                options.directory = folder
                return NewDownload("http://e.org/x", options: options)
            }
            #expect(
                await code { _ = try await client.addMany(placed) } == .invalidDestination
            )
            #expect(!folders.contains(where: TestFile.exists))
            scene.faults.failNext()
            #expect(
                await code { _ = try await client.addMany([NewDownload("http://e.org/")]) }
                    == .storeFailed
            )
            let many = Array(
                repeating: NewDownload("http://e.org/"),
                count: Contract.maximumURLs + 1
            )
            #expect(await code { _ = try await client.addMany(many) } == .limitExceeded)
            #expect(try await client.taskCount() == 0)
        }
    }

    @Test func `AddMany takes as many downloads as it says, each with its options`() async throws {
        try await withService { scene in
            var options = AddOptions()
            options.paused = true
            options.priority = 3
            options.referrer = "http://e.org/the/page/on/which/it/was/found"
            options.filename = "a file of a name that no register holds"
            options.speedLimit = 10_000
            let good = NewDownload("http://e.org/a/file/somewhere", options: options)
            var many = Array(repeating: good, count: Contract.maximumURLs)
            options.connections = 17
            many[many.count - 1].options = options
            // All were read before the last one was judged.
            let (client, downloads) = (scene.client, many)
            let error = await #expect(throws: ManagerError.self) {
                _ = try await client.addMany(downloads)
            }
            #expect(error?.code == .invalidOption)
            #expect(error?.message.hasPrefix("task \(Contract.maximumURLs): ") == true)
        }
    }

    @Test func `GetTasks keeps the order of the ids, and leaves out unknown and repeated ones`()
        async throws
    {
        try await withService { scene in
            let client = scene.client
            var options = AddOptions()
            options.paused = true
            let ids = try await client.addURLs(
                (1...3).map { "http://e.org/\($0)?key=SECRET" },
                options: options
            )
            let path = TaskPath.parent.rawValue + "/" + ids[0]
            let asked = [ids[2], "99", path, "x", ids[2]]
            let tasks = try await client.getTasks(asked)
            #expect(tasks.map(\.id) == [ids[2], ids[0]])
            #expect(tasks[0].url == "http://e.org/3?key=SECRET")
            let excerpt = try await client.getTasks([ids[1]], of: [.fileName])
            #expect(excerpt.map(\.id) == [ids[1]])
            #expect(excerpt.map(\.fileName) == ["2"])
            #expect(excerpt.map(\.url) == [""])
        }
    }

    @Test(arguments: ["nonsense", "gopher://e.org/", "ftp://e.org/folder/"])
    func `AddURLs names a bad URL by its place, also the only one; AddURL has no places`(
        url: String
    ) async throws {
        try await withService { scene in
            let listed = await #expect(throws: ManagerError.self) {
                _ = try await scene.client.addURLs([url])
            }
            #expect(listed?.message.contains("URL 1: ") == true, "\(listed?.message ?? "")")
            let single = await #expect(throws: ManagerError.self) {
                _ = try await scene.client.addURL(url)
            }
            #expect(single?.code == listed?.code)
            #expect(single?.message.contains("URL 1") == false, "\(single?.message ?? "")")
        }
    }

    @Test func `Quit is answered`() async throws {
        try await withService { scene in
            try await scene.client.quit()
            #expect(scene.quit.isOpen)
        }
    }
}
