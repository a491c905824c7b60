// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownBus
import iDownSettings
import iDownTesting

/// Many who want one name, and what stands in their way.
@Suite(.timeLimit(.minutes(2))) struct NameRaceTests {
    private static func content(_ number: Int) -> TestContent {
        TestContent(seed: UInt64(100 + number), count: 40_000 + Int64(number))
    }

    @Test func `sixteen tasks that race for one name get sixteen files`() async throws {
        let go = FaultServer.Gate()
        let host = try FaultServer(
            script: .init { request in
                // All heads leave at the same moment.
                let number = Int(request.path.split(separator: "/").first ?? "") ?? 0
                return [.wait(for: go)] + ServedFile(Self.content(number)).answer(to: request)
            }
        )
        defer { host.stop() }
        try await withService { service in
            try await service.client.set(.maxConcurrentDownloads, to: .number(16))
            let ids = try await service.client.addURLs((0..<16).map { host.url("/\($0)/same.bin") })
            await host.waitForRequest(count: 16)
            go.open()
            for id in ids { try await service.waitForState("completed", of: id) }
            let tasks = try await service.client.listTasks()
            #expect(Set(tasks.map(\.path)).count == 16)
            for (number, task) in tasks.enumerated() {
                #expect(try Self.content(number).firstDifference(fromFile: task.path) == nil)
            }
            let names = (1...15).map { "same (\($0)).bin" } + ["same.bin"]
            #expect(Set(TestFile.names(in: service.home.downloads)) == Set(names))
        }
    }

    @Test func `links and files that stand in the way are neither followed nor replaced`()
        async throws
    {
        let host = try ChangingHost(ServedFile(Self.content(0)))
        defer { host.stop() }
        try await withService { service in
            let downloads = service.home.downloads
            _ = try await ChildProcess.run("mkdir", [downloads])
            let target = service.home.path + "/precious"
            try TestFile.write("mine", to: target)
            #expect(symlink(target, downloads + "/file.bin") == 0)
            // A link to nothing is taken as well, and so is one in the partial file's place.
            #expect(symlink(target + "-missing", downloads + "/file (1).bin") == 0)
            #expect(symlink(target, downloads + "/file (2).bin.part") == 0)
            _ = try await ChildProcess.run("mkdir", [downloads + "/file (3).bin"])

            let id = try await service.add(host.url("/file.bin"))
            try await service.waitForState("completed", of: id)
            #expect(try await service.client.getTask(id).path == downloads + "/file (4).bin")
            #expect(try TestFile.text(of: target) == "mine")
            #expect(access(target + "-missing", F_OK) != 0)
            #expect(
                TestFile.names(in: downloads) == [
                    "file (1).bin", "file (2).bin.part", "file (3).bin", "file (4).bin",
                    "file.bin",
                ]
            )
        }
    }

    @Test func `a folder that became a link before the transfer gets nothing`() async throws {
        let host = try ChangingHost(ServedFile(Self.content(0)))
        defer { host.stop() }
        try await withService { service in
            let folder = service.home.path + "/here"
            let id = try await service.add(host.url("/file.bin")) { options in
                options.directory = folder
                options.paused = true
            }
            let elsewhere = service.home.path + "/.config/autostart"
            _ = try await ChildProcess.run("mkdir", ["-p", elsewhere])
            #expect(rmdir(folder) == 0)
            #expect(symlink(elsewhere, folder) == 0)
            try await service.client.resume(id)
            try await service.waitForState("failed", of: id)
            #expect(try await service.client.getTask(id).errorCode == "File.Vanished")
            #expect(TestFile.names(in: elsewhere).isEmpty)
        }
    }
}
