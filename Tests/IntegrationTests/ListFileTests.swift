// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownTesting

/// Import and export of lists by the real command.
@Suite(.timeLimit(.minutes(5)))
struct ListFileTests {
    /// The facts of a task that stay the same after export and import.
    private func shape(of service: ServiceUnderTest) async throws -> [[String]] {
        try await service.client.allTasks().map { task in
            [
                task.url, task.fileName, task.directory, task.state.rawValue, task.checksum,
                task.referrer, "\(task.priority)", "\(task.speedLimit)",
                "\(task.maxConnections)",
            ]
        }
    }

    /// Adds paused URLs from a list, exports them, and imports the export into another service.
    private func roundTrip(of urls: [String], exporting arguments: [String]) async throws {
        var export = ""
        var shape: [[String]] = []
        var folder = ""
        try await withService { service in
            folder = service.home.path
            let list = urls.joined(separator: "\n")
            let added = try await idown("add", "--paused", "-i", "-", in: service, input: list)
            #expect(added.status == .exited(0), "\(added.standardError)")
            shape = try await self.shape(of: service)
            let exported = try await idown(arguments, in: service)
            #expect(exported.status == .exited(0), "\(exported.standardError)")
            export = exported.standardOutput
        }
        let isWhole = shape.map(\.[0]) == urls
        #expect(isWhole)
        try await withService { service in
            // This service has another download folder.
            let home = service.home.path
            let moved = try await ChildProcess.run(
                "sed",
                ["s|\(folder)|\(home)|"],
                input: export
            )
            try TestFile.write(moved.standardOutput, to: "\(home)/list")
            let added = try await idown("add", "-i", "list", in: service)
            #expect(added.status == .exited(0), "\(added.standardError)")
            let imported = try await self.shape(of: service)
            let expected = shape.map { task in
                task.map { $0.hasPrefix(folder) ? home + $0.dropFirst(folder.count) : $0 }
            }
            let isSame = imported == expected
            #expect(isSame)
        }
    }

    @Test func `5,000 URLs stay the same tasks after export and import`() async throws {
        try await roundTrip(
            of: (0..<5_000).map { "http://127.0.0.1:9/files/file-\($0).bin" },
            exporting: ["export"]
        )
    }

    @Test func `tasks stay the same after export and import as JSON`() async throws {
        try await roundTrip(
            of: (0..<50).map { "http://127.0.0.1:9/Gr%C3%BC%C3%9Fe/\($0)?x=1&y=2" },
            exporting: ["export", "all", "--json"]
        )
    }

    @Test func `every option of a list reaches its task, and is exported again`() async throws {
        let digest = "md5=" + String(repeating: "0a", count: 16)
        let list = """
            # comment
            http://127.0.0.1:9/a\thttp://127.0.0.1:10/a
              out=name.bin
              dir=sub
            \tchecksum=\(digest)
              referer=http://127.0.0.1:9/page
              max-download-limit=2M
              pause=true
              priority=-4
              split=3
              # another
              bt-tracker=http://127.0.0.1/

            http://127.0.0.1:9/b
              out=deep/er/b.bin
              header=X-Key: secret
              pause=true
            """
        try await withService { service in
            let folder = "\(service.home.path)/base"
            let below = try await idown(
                "add",
                "-d",
                folder,
                "--paused",
                "-i",
                "-",
                in: service,
                input: "http://127.0.0.1:9/c\n  out=sub/c"
            )
            #expect(try await service.client.listTasks().map(\.directory) == [folder + "/sub"])
            #expect(try await idown("remove", below.standardOutput, in: service).succeeded)
            let added = try await idown("add", "-i", "-", in: service, input: list)
            #expect(added.status == .exited(0), "\(added)")
            #expect(added.standardError.contains("no option bt-tracker"), "\(added)")
            let tasks = try await service.client.listTasks()
            try #require(tasks.count == 2)
            #expect(tasks[0].fileName == "name.bin")
            #expect(tasks[0].directory == "\(service.home.path)/sub")
            #expect(tasks[0].checksum == digest)
            #expect(tasks[0].referrer == "http://127.0.0.1:9/page")
            #expect(tasks[0].speedLimit == 2 << 20)
            #expect(tasks[0].maxConnections == 3)
            #expect(tasks[0].priority == -4)
            #expect(tasks[0].state == .paused)
            #expect(tasks[1].fileName == "b.bin")
            // As in aria2, out= is below the folder of dir=, which is the download folder here.
            #expect(tasks[1].directory == "\(service.home.downloads)/deep/er")
            let before = try await shape(of: service)
            let exported = try await idown("export", in: service)
            #expect(!exported.standardOutput.contains("secret"))
            #expect(try await idown("remove", "all", in: service).status == .exited(0))
            let again = try await idown(
                "add",
                "-i",
                "-",
                in: service,
                input: exported.standardOutput
            )
            #expect(again.status == .exited(0), "\(again)")
            let after = try await shape(of: service)
            #expect(after == before, "\(exported.standardOutput)\n\(after)\n\(before)")
        }
    }

    @Test func `a bad option of a list does not keep other downloads from being added`()
        async throws
    {
        try await withService { service in
            let list = """
                http://127.0.0.1:9/1
                http://127.0.0.1:9/2
                  header=secret
                http://127.0.0.1:9/4
                  https://127.0.0.1:9/5
                http://127.0.0.1:9/6
                """
            let added = try await idown("add", "--paused", "-i", "-", in: service, input: list)
            #expect(added.status == .exited(6), "\(added)")
            #expect(
                added.standardError.split(separator: "\n") == [
                    "idown: standard input: line 3: header must have the form Name: value; the"
                        + " download of line 2 is not added",
                    "idown: standard input: line 5: an indented line must be an option,"
                        + " name=value; do not indent a URL; the download of line 4 is not added",
                ]
            )
            let json = #"[{"URL":"http://127.0.0.1:9/7"},{"URL":"x:","Priority":"secret"}]"#
            let objects = try await idown("add", "--paused", "-i", "-", in: service, input: json)
            #expect(objects.status == .exited(6), "\(objects)")
            #expect(objects.standardError.contains("download 2: Priority has"), "\(objects)")
            #expect(
                try await service.client.listTasks().map(\.url)
                    == ["1", "6", "7"].map { "http://127.0.0.1:9/\($0)" }
            )
            #expect(!"\(added)\(objects)".contains("secret"))
        }
    }

    @Test func `a list without a good download adds nothing, and the error names the line`()
        async throws
    {
        try await withService { service in
            let lists: [(String, Int32, String)] = [
                ("  out=x\n  http://127.0.0.1:9/", 6, "line 1"),
                ("http://127.0.0.1:9/\n  header=secret", 6, "line 2"),
                ("http://127.0.0.1:9/\n  pause=maybe", 6, "line 2"),
                ("[1]", 6, "download 1"), ("{}", 6, "JSON"),
            ]
            for (list, status, words) in lists {
                let refused = try await idown("add", "-i", "-", in: service, input: list)
                #expect(refused.status == .exited(status), "\(list): \(refused)")
                #expect(refused.standardError.contains(words), "\(list): \(refused)")
                #expect(!refused.standardError.contains("secret"))
            }
            let url = "http://127.0.0.1:9/first"
            let token = try await idown("add", "--token", "t", "-i", "-", in: service, input: url)
            #expect(token.status == .exited(64), "\(token)")
            #expect(try await idown("add", "-i", "missing", in: service).status == .exited(12))
            #expect(try await service.client.listTasks().isEmpty)
            // If only the service refuses an entry, the error names its line and the rest is added.
            let mixed = try await idown(
                "add",
                "--paused",
                "-i",
                "-",
                in: service,
                input: "http://127.0.0.1:9/1\n  out=..\nhttp://127.0.0.1:9/2\n  out=ok\n"
            )
            #expect(mixed.status == .exited(6), "\(mixed)")
            #expect(mixed.standardError.contains("line 1"), "\(mixed)")
            #expect(mixed.standardOutput == "1")
        }
    }

    @Test func `downloads with options of their own are added together, but for bad ones`()
        async throws
    {
        try await withService { service in
            let numbers = Array(1...60)
            func list(refused: Set<Int>) -> String {
                numbers.map { number in
                    let name = refused.contains(number) ? ".." : "n\(number)"
                    return "http://127.0.0.1:9/\(number)\n  out=\(name)\n  header=X: \(number)\n"
                }.joined()
            }
            func add(_ list: String) async throws -> ChildProcess.Completed {
                try await idown("add", "--paused", "-i", "-", in: service, input: list)
            }
            let some = try await add(list(refused: [7, 8, 44]))
            #expect(some.status == .exited(6), "\(some)")
            let lines = some.standardError.split(separator: "\n").map { line in
                line.dropFirst("idown: standard input: ".count).prefix { $0 != ":" }
            }
            #expect(lines == ["line 19", "line 22", "line 130"], "\(some)")
            var tasks = try await service.client.allTasks()
            let added = numbers.filter { ![7, 8, 44].contains($0) }
            #expect(tasks.map(\.fileName) == added.map { "n\($0)" })
            #expect(some.standardOutput.split(separator: "\n").map(String.init) == tasks.map(\.id))
            // Nothing is added twice, and those of the list take the options.
            let whole = try await add(list(refused: []).replacing("X:", with: "Y:"))
            #expect(whole.status == .exited(0), "\(whole)")
            tasks = try await service.client.allTasks()
            #expect(tasks.map(\.headerNames) == added.map { _ in ["Y"] } + [["Y"], ["Y"], ["Y"]])
            #expect(Set(whole.standardOutput.split(separator: "\n")).count == 60)
            // One commit has added all of them.
            _ = try await service.client.removeTasks(tasks.map(\.id))
            #expect(try await add(list(refused: [])).status == .exited(0))
            tasks = try await service.client.allTasks()
            #expect(tasks.map(\.fileName) == numbers.map { "n\($0)" })
            #expect(Set(tasks.map(\.serial)).count == 1)
        }
    }

    @Test func `a download that a list names twice, once with options, starts with them`()
        async throws
    {
        let server = try FaultServer.serving(ServedFile(TestContent(seed: 307, count: 1 << 10)))
        defer { server.stop() }
        try await withService { service in
            let url = server.url("/a")
            let id = try await service.add(url) { $0.paused = true }
            let added = try await idown(
                "add",
                "-i",
                "-",
                in: service,
                input: "\(url)\n  header=X: 1\n\(url)\n"
            )
            #expect(added.standardOutput == "\(id)\n\(id)", "\(added)")
            try await service.waitForState("completed", of: id)
            #expect(server.requests.allSatisfy { $0["X"] == "1" })
        }
    }

    @Test func `URLs with cookies of their own are added together or not at all`() async throws {
        try await withService { service in
            let cookies = ["a", "b"].map { "127.0.0.1\tFALSE\t/\($0)/\tFALSE\t0\tk\t\($0)\n" }
            try TestFile.write(cookies.joined(), to: service.home.path + "/cookies")
            func add(_ urls: String...) async throws -> ChildProcess.Completed {
                try await idown(["add", "--paused", "-b", "cookies"] + urls, in: service)
            }
            let (one, two) = ("http://127.0.0.1:9/a/x", "http://127.0.0.1:9/b/x")
            let none = try await add(one, two, "http://127.0.0.1:999999/")
            #expect(none.status == .exited(5) && none.standardOutput == "", "\(none)")
            #expect(try await service.client.taskCount() == 0)
            let both = try await add(one, two)
            #expect(both.standardOutput == "1\n2", "\(both)")
            let tasks = try await service.client.allTasks()
            #expect(Set(tasks.map(\.serial)).count == 1)
        }
    }

    @Test func `a refused URL of a list does not keep other URLs from being added`() async throws {
        try await withService { service in
            let long = "http://127.0.0.1:9/" + String(repeating: "x", count: 100_000)
            let urls = (1...9).map { number in
                switch number {
                case 3: "gopher://127.0.0.1/3"
                case 4: long
                case 9: "http://127.0.0.1:999999/9"
                default: "http://127.0.0.1:9/\(number)"
                }
            }
            let added = try await idown(
                "add",
                "--paused",
                "-i",
                "-",
                in: service,
                input: urls.joined(separator: "\n")
            )
            #expect(added.status == .exited(5), "\(added)")
            let ids = added.standardOutput.split(separator: "\n").map(String.init)
            let tasks = try await service.client.listTasks()
            #expect(tasks.map(\.id) == ids)
            #expect(tasks.map(\.url) == [1, 2, 5, 6, 7, 8].map { "http://127.0.0.1:9/\($0)" })
            let lines = added.standardError.split(separator: "\n").map { line in
                String(line.dropFirst("idown: standard input: ".count).prefix { $0 != ":" })
            }
            #expect(lines == ["line 3", "line 4", "line 9"], "\(added)")
            // URLs on the command line are added together or not at all.
            let none = try await idown(["add", "--paused"] + urls, in: service)
            #expect(none.status == .exited(5), "\(none)")
            #expect(try await service.client.listTasks().count == 6)
        }
    }

    @Test func `a line that is no URL is told with its place, and the rest is added`() async throws
    {
        try await withService { service in
            let list =
                "\u{FEFF}http://127.0.0.1:9/1\nfoo\nexample.org/x\nhttp://127.0.0.1:9/4 # note"
            try TestFile.write(list, to: service.home.path + "/urls")
            let added = try await idown("add", "--paused", "-i", "urls", in: service)
            #expect(added.status == .exited(5), "\(added)")
            #expect(added.standardOutput == "1\n2\n3", "\(added)")
            for text in [
                "urls: line 2: foo has no scheme", "urls: line 3: assuming https://example.org/x",
                "urls: line 4: the URL has a blank",
            ] {
                #expect(added.standardError.contains(text), "\(added)")
            }
            #expect(
                try await service.client.listTasks().map(\.url) == [
                    "http://127.0.0.1:9/1", "https://example.org/x", "http://127.0.0.1:9/4%20",
                ]
            )
            let json = "[\n{\"URL\": \"http://127.0.0.1:9/5\"},\n\n{\"URL\": \"foo\"}]"
            let objects = try await idown("add", "--paused", "-i", "-", in: service, input: json)
            #expect(objects.status == .exited(5), "\(objects)")
            #expect(
                objects.standardError.contains("standard input: download 2: foo"),
                "\(objects)"
            )
        }
    }

    @Test func `standard input is read for one option only`() async throws {
        try await withService { service in
            for other in [["-H", "@-"], ["--load-cookies", "-"], ["-b", "-"]] {
                let url = "http://127.0.0.1:9/a"
                let refused = try await idown(["add", "-i", "-"] + other, in: service, input: url)
                #expect(refused.status == .exited(64), "\(refused)")
                #expect(refused.standardError.contains("standard input"), "\(refused)")
            }
        }
    }

    @Test func `a tilde that no shell has replaced is the user's home`() async throws {
        try await withService { service in
            let list = "http://127.0.0.1:9/1\n  dir=~/lit"
            let added = try await idown("add", "--paused", "-i", "-", in: service, input: list)
            #expect(added.status == .exited(0), "\(added)")
            let alone = try await idown(
                "add",
                "--directory=~/lit",
                "--paused",
                "a.b/x",
                in: service
            )
            #expect(alone.status == .exited(0), "\(alone)")
            #expect(
                try await service.client.listTasks().map(\.directory)
                    == Array(repeating: service.home.path + "/lit", count: 2)
            )
            let other = try await idown("add", "-d", "~me/x", "a.b/y", in: service)
            #expect(other.status == .exited(64), "\(other)")
            #expect(other.standardError.contains("./~me/x"), "\(other)")
            // The command's own usage is not the one of another command.
            #expect(!other.standardError.contains("<subcommand>"), "\(other)")
        }
    }
}
