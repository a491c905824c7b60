// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownBus
import iDownTesting

/// What `idown get --json` prints if a download does not complete.
@Suite(.timeLimit(.minutes(5)))
struct GetJSONTests {
    private let content = TestContent(seed: 125, count: 200_000)

    /// Starts the command with its progress as the output, and its data in a file.
    private func start(_ urls: [String], in service: ServiceUnderTest) async throws -> ChildProcess
    {
        try await ChildProcess.start(
            "sh",
            ["-c", #"exec "$@" 2>&1 >printed"#, "sh", try BuiltProgram("idown").path, "get"]
                + ["--json"] + urls,
            environment: service.environment,
            workingDirectory: service.home.path
        )
    }

    private func printed(in service: ServiceUnderTest) throws -> String {
        try TestFile.text(of: "\(service.home.path)/printed")
    }

    @Test func `after an interrupt the ended downloads are printed, as an array for several URLs`()
        async throws
    {
        let host = try ChangingHost(.held(content, after: 100_000))
        defer { host.stop() }
        let quick = try ChangingHost(ServedFile(content))
        defer { quick.stop() }
        try await withService { service in
            let urls = [quick.url("/done.bin"), host.url("/held.bin")]
            let getting = try await start(urls, in: service)
            try await within("the first one to be done") {
                while let line = await getting.nextLine(), !line.contains("done.bin 100%") {}
            }
            getting.send(SIGINT)
            let status = try await within("get to end") { await getting.waitForExit() }
            #expect(status == .exited(130))
            let tasks = try await evaluate(
                "[(t['FileName'], t['State']) for t in x]",
                of: try printed(in: service)
            )
            #expect(tasks == "[('done.bin', 'completed')]")
        }
    }

    @Test func `for one URL an object is printed, or nothing`() async throws {
        let host = try ChangingHost(.held(content, after: 100_000))
        defer { host.stop() }
        try await withService { service in
            let interrupted = try await start([host.url("/held.bin")], in: service)
            let shown = try await within("get to show a state") { await interrupted.nextLine() }
            #expect(shown != nil)
            interrupted.send(SIGINT)
            let status = try await within("get to end") { await interrupted.waitForExit() }
            #expect(status == .exited(130))
            #expect(try printed(in: service) == "")

            let removed = try await start([host.url("/held.bin")], in: service)
            let again = try await within("get to show a state") { await removed.nextLine() }
            #expect(again != nil)
            try await service.client.remove("1")
            let end = try await within("get to end") { await removed.waitForExit() }
            #expect(end == .exited(15))
            #expect(try printed(in: service) == "")
        }
    }
}
