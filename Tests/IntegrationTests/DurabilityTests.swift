// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownTesting

/// The order in which the service syncs, records and tells, as the kernel saw it.
@Suite(.timeLimit(.minutes(5)))
struct DurabilityTests {
    /// Runs the service under strace.
    ///
    /// - Returns: The trace, and the service's folders.
    private func trace(
        _ body: (ServiceUnderTest) async throws -> Void
    ) async throws -> SystemCallTrace {
        try await withTemporaryFolder { folder in
            try await withService(started: false) { service in
                let file = "\(folder)/trace"
                let calls =
                    "fdatasync,fsync,linkat,pwrite64,write,writev,rename,renameat,renameat2,sendmsg,"
                    + "recvmsg"
                // A message's head and the first words of its body fit in 600 bytes.
                try await service.start(
                    under: [
                        "strace", "-f", "-y", "-ttt", "-s", "4096", "-e", "trace=\(calls)",
                        "-o", file,
                    ]
                )
                try await body(service)
                try await service.client.quit()
                #expect(try await service.waitForEnd() == .exited(0))
                let trace = SystemCallTrace(try TestFile.text(of: file))
                #expect(trace.unread.isEmpty, "\(trace.unread.prefix(5))")
                return trace
            }
        }
    }

    @Test func `2,000 calls that arrive together share their commits`() async throws {
        var home = ""
        let trace = try await trace { service in
            home = service.home.path
            let client = service.client
            let ids = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 1...2000 {
                    group.addTask {
                        var options = AddOptions()
                        options.paused = true
                        return try await client.addURL(
                            "http://127.0.0.1:9/\(number)",
                            options: options
                        )
                    }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(ids.count == 2000)
        }
        let commits = trace.commits(of: "\(home)/.local/state/idown/tasks.sqlite")
        #expect(commits.count <= 200, "\(commits.count)")
        let syncs = trace.calls.filter { $0.name == "fdatasync" || $0.name == "fsync" }
        #expect(syncs.count <= 200, "\(syncs.count)")
    }

    @Test func `a verb for many tasks is one commit`() async throws {
        var home = ""
        let trace = try await trace { service in
            home = service.home.path
            var options = AddOptions()
            options.paused = true
            let urls = (1...300).map { "http://127.0.0.1:9/\($0)" }
            let ids = try await service.client.addURLs(urls, options: options)
            #expect(try await service.client.cancelTasks(ids) == 300)
            #expect(try await service.client.removeTasks(ids) == 300)
        }
        let commits = trace.commits(of: "\(home)/.local/state/idown/tasks.sqlite")
        // One for each of the three calls, one for each of the sixteen versions by which a new list
        // is made, and a few for the start and the end.
        #expect((3...26).contains(commits.count), "\(commits.count)")
    }

    @Test func `one download is synced, recorded and told in the order that loses nothing`()
        async throws
    {
        try await withTemporaryFolder { root in
            let made = try await ChildProcess.run(
                "dd",
                ["if=/dev/urandom", "of=\(root)/file.bin", "bs=1M", "count=72"]
            )
            #expect(made.succeeded)
            // The checkpoint at 64 MiB has time to be through before the last byte comes.
            let slow = "limit_rate_after 66m; limit_rate 400k;"
            try await withNginx(root: root, locationDirectives: slow) { nginx in
                var home = ""
                let trace = try await trace { service in
                    home = service.home.path
                    let id = try await service.add(nginx.url("/file.bin"))
                    try await service.waitForState("completed", of: id)
                }
                let commits = trace.commits(of: "\(home)/.local/state/idown/tasks.sqlite")
                let part = trace.path(of: "file.bin.part", in: "\(home)/Downloads")
                checkAdding(trace, commits)
                try checkCheckpoints(trace, commits, part)
                try checkPublication(trace, commits, part, folder: "\(home)/Downloads")
            }
        }
    }

    /// The call is read, committed, announced, answered.
    private func checkAdding(_ trace: SystemCallTrace, _ commits: [SystemCallTrace.Commit]) {
        let call = trace.calls.first { call in
            call.name == "recvmsg" && call.arguments.contains("AddURLWithOptions")
        }
        let announcement = trace.sent("TaskAdded").first
        // Its head begins with the byte order and the type: 2 is a method's return.
        let reply = trace.calls.first { sent in
            sent.name == "sendmsg" && sent.arguments.contains(#"iov_base="l\2"#)
                && announcement.map { $0.end < sent.begin } == true
        }
        guard let call, let announcement, let reply else {
            Issue.record("no AddURLWithOptions, TaskAdded or reply in the trace")
            return
        }
        #expect(commits.contains { call.end < $0.begin && $0.end < announcement.begin })
        #expect(announcement.end < reply.begin)
        #expect(!trace.sent("TaskAdded").contains { $0.begin < call.end })
    }

    /// Before each commit in mid-transfer the data that it may claim is synced.
    private func checkCheckpoints(
        _ trace: SystemCallTrace,
        _ commits: [SystemCallTrace.Commit],
        _ part: String
    ) throws {
        let writes = trace.writes(to: part)
        let syncs = trace.syncs(of: part)
        let first = try #require(writes.first)
        let last = try #require(writes.last)
        // The name and the inode stand in the record before the first byte stands in the file.
        #expect(commits.contains { $0.end < first.begin })
        let checkpoints = commits.filter { first.end < $0.begin && $0.begin < last.begin }
        #expect(!checkpoints.isEmpty, "72 MiB have a checkpoint after 64 MiB")
        for (index, commit) in commits.enumerated() where first.end < commit.begin {
            guard commit.begin < last.begin else { break }
            let previous = commits[index - 1]
            let sync = syncs.first { previous.end < $0.begin && $0.end < commit.begin }
            #expect(sync != nil, "a commit at line \(commit.begin) without a sync before it")
        }
        #expect(syncs.allSatisfy { $0.succeeded })
    }

    /// Synced, intended, renamed, folder synced, recorded, told.
    private func checkPublication(
        _ trace: SystemCallTrace,
        _ commits: [SystemCallTrace.Commit],
        _ part: String,
        folder: String
    ) throws {
        let renames = trace.calls.filter { $0.name.hasPrefix("rename") && $0.succeeded }
            .filter { $0.arguments.contains("file.bin.part") }
        #expect(renames.count == 1)
        let rename = try #require(renames.first)
        #expect(rename.arguments.contains("RENAME_NOREPLACE"))
        let lastWrite = try #require(trace.writes(to: part).last)
        let fileSync = try #require(
            trace.syncs(of: part).last { lastWrite.end < $0.begin && $0.name == "fsync" }
        )
        let intent = try #require(commits.first { fileSync.end < $0.begin })
        #expect(intent.end < rename.begin)
        let folderSync = try #require(
            trace.syncs(of: folder).first { rename.end < $0.begin && $0.succeeded }
        )
        let completion = try #require(commits.first { folderSync.end < $0.begin })
        let announcement = try #require(trace.sent("TaskChanged", "completed").first)
        #expect(completion.end < announcement.begin)
        #expect(!commits.contains { rename.end < $0.begin && $0.end < folderSync.begin })
    }

    @Test func `a small file is synced, recorded, named and told in the order that loses nothing`()
        async throws
    {
        try await withTemporaryFolder { root in
            try TestFile.write(String(repeating: "x", count: 1000), to: "\(root)/file.bin")
            try await withNginx(root: root) { nginx in
                var home = ""
                let trace = try await trace { service in
                    home = service.home.path
                    let id = try await service.add(nginx.url("/file.bin"))
                    try await service.waitForState("completed", of: id)
                }
                let folder = "\(home)/Downloads"
                let commits = trace.commits(of: "\(home)/.local/state/idown/tasks.sqlite")
                // It is linked under its final name, and under no other before.
                let links = trace.calls.filter { $0.name == "linkat" && $0.succeeded }
                let link = try #require(links.first)
                #expect(links.count == 1 && link.arguments.contains(#""file.bin""#))
                let sync = try #require(
                    trace.calls.last { call in
                        call.name == "fsync" && call.end < link.begin
                            && call.path.hasPrefix("\(folder)/#")
                    }
                )
                let writes = trace.writes(to: sync.path)
                #expect(!writes.isEmpty && writes.allSatisfy { $0.end < sync.begin })
                let intent = try #require(commits.first { sync.end < $0.begin })
                #expect(intent.end < link.begin)
                let folderSync = try #require(
                    trace.syncs(of: folder).first { link.end < $0.begin && $0.succeeded }
                )
                #expect(!commits.contains { link.end < $0.begin && $0.end < folderSync.begin })
                let completion = try #require(commits.first { folderSync.end < $0.begin })
                let told = try #require(trace.sent("TaskChanged", "completed").first)
                #expect(completion.end < told.begin)
            }
        }
    }

    @Test func `a verb is on disk before it is told and answered`() async throws {
        let host = try ChangingHost(.held(TestContent(seed: 40, count: 1 << 20)))
        defer { host.stop() }
        var home = ""
        let trace = try await trace { service in
            home = service.home.path
            let id = try await service.addHeld(on: host)
            try await service.waitForBytes(256 << 10, of: id)
            try await service.pause(id, with: 256 << 10)
        }
        let commits = trace.commits(of: "\(home)/.local/state/idown/tasks.sqlite")
        let part = trace.path(of: "file.bin.part", in: "\(home)/Downloads")
        let told = try #require(trace.sent("TaskChanged", "paused").first)
        #expect(commits.contains { $0.end < told.begin })
        let reply = try #require(
            trace.calls.first { sent in
                sent.name == "sendmsg" && sent.arguments.contains(#"iov_base="l\2"#)
                    && told.end < sent.begin
            }
        )
        #expect(told.end < reply.begin)
        // What the record claims of a paused task was synced before.
        let lastWrite = try #require(trace.writes(to: part).last)
        let sync = try #require(trace.syncs(of: part).first { lastWrite.end < $0.begin })
        #expect(commits.contains { sync.end < $0.begin })
    }
}
