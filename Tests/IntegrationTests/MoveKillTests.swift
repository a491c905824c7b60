// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownTesting

/// `kill -9` of the service while a partial file gets another place.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled("needs to mount a tmpfs") { await Privilege.canMount() }
)
struct MoveKillTests {
    private static let size: Int64 = 6 << 20

    /// A call into one of the folders, at whose entry the service is killed.
    struct Moment: Sendable, CustomTestStringConvertible {
        let call: String
        let number: Int
        let isAtTarget: Bool

        var testDescription: String { "\(call) \(number), \(isAtTarget ? "new" : "old") folder" }
    }

    private static let moments =
        ["openat", "renameat2", "linkat", "fsync"].flatMap { call in
            (1...2).map { Moment(call: call, number: $0, isAtTarget: true) }
        } + [
            Moment(call: "unlinkat", number: 1, isAtTarget: false),
            Moment(call: "fsync", number: 1, isAtTarget: false),
        ]

    /// Whether the move surely makes the call: a copy is linked, and leaves the old file.
    private static func comes(_ moment: Moment, _ goesToOtherDisk: Bool) -> Bool {
        switch (moment.call, moment.number, moment.isAtTarget) {
        case ("openat", 1, true), ("renameat2", 1, true), ("fsync", 1, true): true
        case ("linkat", 1, true), ("unlinkat", 1, false): goesToOtherDisk
        default: false
        }
    }

    @Test(arguments: moments, [true, false])
    func `whenever the service is killed, all bytes are there once and no other file stays`(
        moment: Moment,
        goesToOtherDisk: Bool
    ) async throws {
        let content = TestContent(seed: 95, count: Self.size)
        let host = try ChangingHost(.held(content, after: Self.size / 2))
        defer { host.stop() }
        try await withSmallDisk(mebibytes: 64) { disk in
            try await withService { service in
                let target = goesToOtherDisk ? disk.path : service.home.path + "/target"
                _ = try await ChildProcess.run("mkdir", ["-p", target])
                let id = try await service.add(host.url("/file.bin"))
                try await service.waitForBytes(Self.size / 2, of: id)
                try await service.pause(id, with: Self.size / 2)
                _ = try await service.terminate()
                let folder = moment.isAtTarget ? target : service.home.downloads
                try await service.start(
                    under: [
                        "strace", "-f", "-o", "/dev/null", "-P", folder, "-e",
                        "inject=\(moment.call):signal=SIGKILL:when=\(moment.number)",
                    ]
                )
                var options = EditOptions()
                options.values.directory = target
                try? await service.client.setOptions(options, of: id)
                // Where no such call comes, the service lives until the file is there.
                try await soon("the kill, or the end of the move") {
                    let task = try? await service.client.getTask(id)
                    // What is left in the old folder goes after the task has its new one.
                    if Self.comes(moment, goesToOtherDisk) { return task == nil }
                    return task.map { $0.activity == .none } ?? true
                }
                let isKilled = (try? await service.kill9()) == nil
                if Self.comes(moment, goesToOtherDisk) { #expect(isKilled) }
                try await service.start()
                try await soon("the move to be over") {
                    try await service.client.getTask(id).activity == .none
                }
                let task = try await service.client.getTask(id)
                #expect(task.state == .paused && task.downloadedBytes == UInt64(Self.size / 2))
                // What was copied goes once the record has the copy.
                let folders = [service.home.downloads, target]
                try await soon("the only file to be the one that the record has") {
                    folders.flatMap { TestFile.names(in: $0) } == ["file.bin.part"]
                }
                #expect(TestFile.names(in: task.directory) == ["file.bin.part"])
                host.letGo()
                try await service.client.resume(id)
                try await service.waitForState("completed", of: id)
                #expect(try content.firstDifference(fromFile: task.directory + "/file.bin") == nil)
                #expect(
                    host.server.requests.last?.range(of: Self.size)?.lowerBound == Self.size / 2
                )
            }
        }
    }
}
