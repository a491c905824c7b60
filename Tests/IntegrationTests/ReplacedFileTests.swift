// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownTesting

/// What a host tells of a file, before and after it was replaced by another of the same size.
struct Replacement: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let before: @Sendable (inout ServedFile) -> Void
    let after: @Sendable (inout ServedFile) -> Void

    private static let monday = "Mon, 02 Nov 2026 10:00:00 GMT"
    private static let tuesday = "Tue, 03 Nov 2026 10:00:00 GMT"

    static let all = [
        Replacement(
            testDescription: "another strong tag",
            before: { _ in },
            after: { $0.entityTag = "\"v2\"" }
        ),
        Replacement(
            testDescription: "another weak tag",
            before: { $0.entityTag = "W/\"v1\"" },
            after: { $0.entityTag = "W/\"v2\"" }
        ),
        Replacement(
            testDescription: "another date, no tag",
            before: { ($0.entityTag, $0.lastModified) = (nil, monday) },
            after: { ($0.entityTag, $0.lastModified) = (nil, tuesday) }
        ),
        Replacement(
            testDescription: "the tag went away",
            before: { _ in },
            after: { $0.entityTag = nil }
        ),
        Replacement(
            testDescription: "no validator at all",
            before: { $0.entityTag = nil },
            after: { $0.entityTag = nil }
        ),
        Replacement(
            testDescription: "no ranges any more",
            before: { _ in },
            after: { ($0.entityTag, $0.acceptsRanges) = ("\"v2\"", false) }
        ),
    ]
}

/// A file that changes at the server while its first half lies here.
@Suite(.timeLimit(.minutes(5)))
struct ReplacedFileTests {
    private let size: Int64 = 2 << 20
    private let half: Int64 = 1 << 20

    @Test(arguments: Replacement.all)
    func `a file replaced between kill and restart is never mixed`(
        replacement: Replacement
    ) async throws {
        let (old, new) = (TestContent(seed: 20, count: size), TestContent(seed: 21, count: size))
        var file = ServedFile.held(old, after: half)
        replacement.before(&file)
        let host = try ChangingHost(file)
        defer { host.stop() }
        try await withService { service in
            let id = try await service.addHeld(on: host)
            try await service.waitForBytes(half, of: id)
            // The record claims the first half of the old file.
            try await service.pause(id, with: half)
            try await service.kill9()

            host.letGo()
            host.change { file in
                file.content = new
                replacement.after(&file)
            }
            try await service.start()
            try await service.client.resume(id)
            try await service.waitForState("completed", of: id)
            let path = try await service.client.getTask(id).path
            #expect(try new.firstDifference(fromFile: path) == nil)
            #expect(TestFile.names(in: service.home.downloads) == ["file.bin"])
        }
    }

    @Test func `a host that ignores If-Range and sends the new file's rest is not believed`()
        async throws
    {
        let (old, new) = (TestContent(seed: 22, count: size), TestContent(seed: 23, count: size))
        let (size, half) = (size, half)
        let hold = FaultServer.Gate()
        let server = try FaultServer(
            script: .init { request in
                let tag = hold.isOpen ? "\"v2\"" : "\"v1\""
                let fields = [("ETag", tag), ("Accept-Ranges", "bytes")]
                guard hold.isOpen else {
                    return [
                        .head("200 OK", fields + [("Content-Length", "\(size)")]),
                        .sendPattern(old, 0..<half), .wait(for: hold), .close,
                    ]
                }
                guard let range = request.range(of: size) else {
                    return [
                        .head("200 OK", fields + [("Content-Length", "\(size)")]),
                        .sendPattern(new, 0..<size),
                    ]
                }
                let value = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
                return [
                    .head(
                        "206 Partial Content",
                        fields + [
                            ("Content-Length", "\(range.count)"), ("Content-Range", value),
                        ]
                    ),
                    .sendPattern(new, range),
                ]
            }
        )
        defer { server.stop() }
        try await withService { service in
            let id = try await service.add(server.url("/file.bin"))
            try await service.waitForBytes(half, of: id)
            try await service.pause(id, with: half)
            try await service.kill9()
            hold.open()
            try await service.start()
            try await service.client.resume(id)
            try await service.waitForState("completed", of: id)
            let path = try await service.client.getTask(id).path
            #expect(try new.firstDifference(fromFile: path) == nil)
        }
    }

    @Test func `a file replaced on a real nginx is never mixed`() async throws {
        try await withTemporaryFolder { root in
            // While there is a file `slow`, what is left behind the first MiB takes minutes.
            let count: Int64 = 1_900_000
            let (old, new) = (
                TestContent(seed: 24, count: count), TestContent(seed: 25, count: count)
            )
            try old.write(toFile: "\(root)/file.bin")
            try TestFile.write("", to: "\(root)/slow")
            let slow = "limit_rate_after 1m; if (-f \"\(root)/slow\") { set $limit_rate 2k; }"
            try await withNginx(root: root, locationDirectives: slow) { nginx in
                try await withService { service in
                    let id = try await service.add(nginx.url("/file.bin"))
                    try await service.waitForBytes(1_000_000, of: id)
                    try await service.pause(id, with: 1_000_000)
                    try await service.kill9()
                    _ = try await ChildProcess.run("rm", ["\(root)/slow"])
                    try new.write(toFile: "\(root)/file.bin")
                    // A time of its own, however fast this was: nginx tells whole seconds.
                    let touched = try await ChildProcess.run(
                        "touch",
                        ["-d", "2026-01-01 00:00:00", "\(root)/file.bin"]
                    )
                    #expect(touched.succeeded)
                    try await service.start()
                    try await service.client.resume(id)
                    try await service.waitForState("completed", of: id)
                    let path = try await service.client.getTask(id).path
                    #expect(try new.firstDifference(fromFile: path) == nil)
                }
            }
        }
    }
}
