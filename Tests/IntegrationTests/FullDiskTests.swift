// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownBus
import iDownSettings
import iDownTesting

/// A disk that is full, and gets room later.
@Suite(.timeLimit(.minutes(3)), .enabled("needs to mount a tmpfs") { await Privilege.canMount() })
struct FullDiskTests {
    private let large = TestContent(seed: 90, count: 20 << 20)
    private let small = TestContent(seed: 91, count: 100_000)

    @Test func `a file that does not fit is held, others run, and it goes on when there is room`()
        async throws
    {
        let host = try FaultServer(
            script: .init { request in
                ServedFile(request.path == "/large" ? large : small).answer(to: request)
            }
        )
        defer { host.stop() }
        try await withSmallDisk(mebibytes: 8) { disk in
            try await withService { service in
                let held = try await service.add(host.url("/large")) { $0.directory = disk.path }
                try await service.waitForHold(.space, of: held)
                let other = try await service.add(host.url("/small"))
                try await service.waitForState("completed", of: other)

                let task = try await service.client.getTask(held)
                #expect(task.state == .waiting && task.hold == .space)
                #expect(task.errorCode == "File.NoSpace")
                #expect(task.attempts == 0)

                try await disk.resize(mebibytes: 64)
                try await service.waitForState("completed", of: held, limit: .seconds(60))
                #expect(try large.firstDifference(fromFile: "\(disk.path)/large") == nil)
                #expect(try await service.client.getTask(held).errorCode == "")
            }
        }
    }

    @Test func `a browser keeps the download for which there is no room`() async throws {
        let host = try FaultServer.serving(ServedFile(large))
        defer { host.stop() }
        try await withSmallDisk(mebibytes: 8) { disk in
            try await withService { service in
                try await service.client.set(.downloadDirectory, to: .text(disk.path))
                var options = HandOverOptions(token: "t")
                options.status = 200
                options.size = UInt64(large.count)
                let code = await refusal {
                    _ = try await service.client.handOver(host.url("/x"), options: options)
                }
                #expect(code == .disagreed)
                #expect(try await service.client.listTasks().isEmpty)
                #expect(TestFile.names(in: disk.path).isEmpty)
                try await disk.resize(mebibytes: 64)
                let id = try await service.client.handOver(host.url("/x"), options: options)
                _ = try await service.client.confirm("t")
                try await service.waitForState("completed", of: id)
            }
        }
    }

    @Test func `on a full home the service starts, and downloads can be removed one by one`()
        async throws
    {
        try await withListOnSmallDisk(mebibytes: 2) { disk, service in
            var options = AddOptions()
            options.paused = true
            let urls = (0..<40).map { "http://127.0.0.1:9/\($0)" }
            let ids = try await service.client.addURLs(urls, options: options)
            _ = try await service.terminate()
            fill(disk.path)
            try await service.start()
            for id in ids { try await service.client.remove(id) }
            #expect(try await service.client.listTasks().isEmpty)
        }
    }

    @Test func `where the file of the next id finds no room either, the reserve is used`()
        async throws
    {
        try await withListOnSmallDisk(mebibytes: 4) { disk, service in
            var ids: [String] = []
            for number in 1...3 {
                ids.append(try await service.add("http://127.0.0.1:9/\(number)"))
            }
            // The list has its size, so nothing but the reserve is left for the start.
            for _ in 1...2 {
                _ = try await service.terminate()
                try await service.start()
            }
            _ = try await service.terminate()
            fill(disk.path)
            try await service.start()
            try await service.client.remove(ids[0])
            #expect(try await service.client.listTasks().count == 2)
        }
    }

    // SQLite's shared memory takes a block for each KiB there, and makes sure of one in four.
    @Test(.enabled("needs to mount an image") { await HangingDisk.canMount(.frozenImage) })
    func `on a full home with small blocks the service starts, or says why not`() async throws {
        try await withHangingDisk(.frozenImage) { disk in
            try await withList(in: disk.path) { service in
                let id = try await service.add("http://127.0.0.1:9/a") { $0.paused = true }
                _ = try await service.terminate()
                fill(disk.path)
                try await service.start()
                try await service.client.remove(id)
                #expect(try await service.client.listTasks().isEmpty)
                _ = try await service.terminate()
                unlink(service.home.state + "/reserve")
                fill(disk.path)
                let child = try await service.launch()
                let status = try await within("the service to end") { await child.waitForExit() }
                #expect(status == .exited(74), "\(child.standardError)")
                #expect(child.standardError.contains("No space left"), "\(child.standardError)")
            }
        }
    }

    @Test func `what is kept for removals goes to no other change of a client`() async throws {
        try await withListOnSmallDisk(mebibytes: 4) { disk, service in
            var options = AddOptions()
            options.paused = true
            let urls = (0..<5_000).map { "http://127.0.0.1:9/\($0)" }
            let few = Array(urls.prefix(200))
            let ids = try await service.client.addURLs(few, options: options)
            fill(disk.path)
            do throws(ManagerError) {
                _ = try await service.client.addURLs(urls, options: options)
                Issue.record("5,000 tasks fit on the full disk")
            } catch { #expect(error.code == .storeFailed) }
            #expect(TestFile.names(in: disk.path).contains("reserve"))
            #expect(try await service.client.removeTasks(Array(ids.prefix(100))) == 100)
            try await service.kill9()
            try await service.start()
            #expect(try await service.client.removeTasks(Array(ids.suffix(100))) == 100)
            #expect(try await service.client.listTasks().isEmpty)
        }
    }

    @Test func `a disk that fills up under a download keeps its bytes`() async throws {
        // No length: nobody can know beforehand that it will not fit.
        let sends = FaultServer.Gate()
        let first = large.bytes(in: 0..<(4 << 20))
        let rest = large.bytes(in: (4 << 20)..<large.count)
        let host = try FaultServer(
            script: .init { request in
                request.number == 1
                    ? [
                        .head("200 OK", [("ETag", "\"v1\"")]), .send(first), .wait(for: sends),
                        .send(rest), .close,
                    ] : ServedFile(large).answer(to: request)
            }
        )
        defer { host.stop() }
        try await withSmallDisk(mebibytes: 24) { disk in
            try await withService { service in
                let id = try await service.add(host.url("/large")) { $0.directory = disk.path }
                try await service.waitForBytes(3 << 20, of: id)
                // What is still free is less than what is to come.
                let filler = [UInt8](repeating: 7, count: 14 << 20)
                try TestFile.write(
                    String(decoding: filler, as: UTF8.self),
                    to: "\(disk.path)/other"
                )
                sends.open()
                try await service.waitForHold(.space, of: id)
                #expect(TestFile.names(in: disk.path).contains("large.part"))
                try await disk.resize(mebibytes: 128)
                try await service.waitForState("completed", of: id, limit: .seconds(60))
                #expect(try large.firstDifference(fromFile: "\(disk.path)/large") == nil)
            }
        }
    }

    @Test func `edit waits for the move, and says why the file stays where it was`() async throws {
        let host = try ChangingHost(.held(large, after: 8 << 20))
        defer { host.stop() }
        try await withSmallDisk(mebibytes: 4) { disk in
            try await withService { service in
                let id = try await service.add(host.url("/large"))
                try await service.waitForBytes(6 << 20, of: id)
                try await service.client.pause(id)
                try await service.waitForState("paused", of: id)
                let told = "The disk is full. The file stays in its old folder."
                // The second time the error is there already.
                for _ in 1...2 {
                    let full = try await idown("edit", id, "-d", disk.path, in: service)
                    #expect(full.status == .exited(12), "\(full)")
                    #expect(full.standardError == "idown: download \(id): \(told)\n")
                }
                for command in [["list"], ["explain", id], ["show", id]] {
                    let shown = try await idown(command, in: service)
                    #expect((shown.standardOutput + shown.standardError).contains(told), "\(shown)")
                }
                // Nothing moves, although the error of the last move is still there.
                let folder = try await service.client.getTask(id).directory
                let same = try await idown("edit", id, "-d", folder, "-A", "x", in: service)
                #expect(same.status == .exited(0), "\(same)")
                let there = try await idown("edit", id, "-d", ".", in: service)
                #expect(there.status == .exited(0), "\(there)")
                let moved = try await idown("edit", id, "-d", "other/new", in: service)
                #expect(moved.status == .exited(0), "\(moved)")
                let task = try await service.client.getTask(id)
                #expect(task.directory.hasSuffix("/other/new") && task.activity == .none)
                #expect(task.errorCode == "")
            }
        }
    }

    /// Runs `body` with a service whose list lies on a small disk.
    private func withListOnSmallDisk(
        mebibytes: Int,
        _ body: (SmallDisk, ServiceUnderTest) async throws -> Void
    ) async throws {
        try await withSmallDisk(mebibytes: mebibytes) { disk in
            try await withList(in: disk.path) { service in try await body(disk, service) }
        }
    }

    /// Runs `body` with a service whose list lies in a folder.
    private func withList(
        in folder: String,
        _ body: (ServiceUnderTest) async throws -> Void
    ) async throws {
        try await withService(started: false) { service in
            mkdir(service.home.path + "/.local", 0o700)
            mkdir(service.home.path + "/.local/state", 0o700)
            rmdir(service.home.state)
            #expect(symlink(folder, service.home.state) == 0)
            try await service.start()
            try await body(service)
        }
    }

    /// Fills a disk to its last block.
    private func fill(_ disk: String) {
        let filler = open(disk + "/filler", O_WRONLY | O_CREAT | O_APPEND, 0o600 as mode_t)
        for size in [65_536, 1_024] {
            let bytes = [UInt8](repeating: 7, count: size)
            while write(filler, bytes, size) == size {}
            fsync(filler)
        }
        close(filler)
    }
}
