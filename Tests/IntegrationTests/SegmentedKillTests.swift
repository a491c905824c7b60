// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownTesting

/// `kill -9` of the service while several connections fill one file.
@Suite(.timeLimit(.minutes(3)))
struct SegmentedKillTests {
    @Test func `the pieces that the record names are kept, and only the rest is fetched`()
        async throws
    {
        let size: Int64 = 16 << 20
        let step: Int64 = 1 << 20
        let content = TestContent(seed: 31, count: size)
        let host = try ChangingHost(.held(content, after: step))
        defer { host.stop() }
        try await withService { service in
            let id = try await service.add(host.url()) { $0.connections = 4 }
            try await service.waitForBytes(4 * step, of: id)
            try await service.client.pause(id)
            var recorded: [Range<Int64>] = []
            while recorded.reduce(0, { $0 + $1.count }) < 4 * step {
                recorded = try await ranges(of: id, service)
            }
            #expect(recorded.count == 4)
            try await service.client.resume(id)
            try await service.waitForBytes(8 * step, of: id)

            let requests = host.server.requests.count
            try await service.restartAfterKill()
            host.letGo()
            try await service.waitForState("completed", of: id)
            let task = try await service.client.getTask(id)
            #expect(try content.firstDifference(fromFile: task.path) == nil)
            #expect(task.integrity == .validators)
            for request in host.server.requests.dropFirst(requests) {
                let range = try #require(request.range(of: size))
                let isMissing = recorded.allSatisfy { !$0.overlaps(range) }
                #expect(isMissing, "\(range) was there")
            }
        }
    }

    @Test func `a file that is replaced after the kill is fetched anew, whatever pieces are there`()
        async throws
    {
        let size: Int64 = 8 << 20
        let step: Int64 = 512 << 10
        let (old, new) = (TestContent(seed: 32, count: size), TestContent(seed: 33, count: size))
        let host = try ChangingHost(
            .held(old, after: step).with { file in
                file.lastModified = "Mon, 02 Nov 2026 10:00:00 GMT"
                file.fields = [("Date", "Sat, 21 Nov 2026 09:00:00 GMT")]
            }
        )
        defer { host.stop() }
        try await withService { service in
            let id = try await service.add(host.url()) { $0.connections = 4 }
            try await service.waitForBytes(4 * step, of: id)
            try await service.client.pause(id)
            // What has come is written a moment later.
            try await soon("a part of each piece") {
                try await ranges(of: id, service).count == 4
            }
            try await service.client.resume(id)
            try await service.waitForBytes(5 * step, of: id)
            try await service.kill9()

            host.letGo()
            host.change { file in
                file.content = new
                file.entityTag = "\"v2\""
                file.lastModified = "Tue, 03 Nov 2026 10:00:00 GMT"
            }
            try await service.start()
            try await service.waitForState("completed", of: id)
            let task = try await service.client.getTask(id)
            #expect(try new.firstDifference(fromFile: task.path) == nil)
            #expect(task.integrity == .validators)
            #expect(TestFile.names(in: service.home.downloads) == ["file.bin"])
        }
    }

    private func ranges(
        of id: String,
        _ service: ServiceUnderTest
    ) async throws -> [Range<Int64>] {
        try await service.client.getTask(id).byteRanges.map {
            Int64(clamping: $0.first)..<Int64(clamping: $0.first + $0.length)
        }
    }
}
