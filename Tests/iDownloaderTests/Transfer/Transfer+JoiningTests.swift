// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Synchronization
import Testing
import iDownTesting
import iDownloader

@testable import iDownState

/// A host that serves only so many connections at a time.
private final class Door: Sendable {
    private struct State {
        var width: Int
        var inside: [RecordedRequest] = []
        var most = 0
        var refused = 0
    }

    private let state: Mutex<State>

    init(width: Int) { state = Mutex(State(width: width)) }

    /// The most that were served at once.
    var most: Int { state.withLock(\.most) }
    var refused: Int { state.withLock(\.refused) }

    /// From now on all are served.
    func widen() { state.withLock { $0.width = .max } }

    func lets(_ request: RecordedRequest) -> Bool {
        state.withLock { state in
            state.inside.removeAll { $0.hasEnded || $0.connection == request.connection }
            guard state.inside.count < state.width else {
                state.refused += 1
                return false
            }
            state.inside.append(request)
            state.most = max(state.most, state.inside.count)
            return true
        }
    }
}

extension Site {
    /// Starts a task with this id, whose file has the id as its name.
    fileprivate func start(
        _ id: Int64,
        at server: FaultServer
    ) throws -> (RecordingJournal, RunningTransfer) {
        let journal = try task(server.url("/\(id).bin"), id: id)
        return (journal, try start(journal))
    }

    /// Runs a download; once it is under way somebody else has a say.
    fileprivate func download(
        _ url: String,
        connections: Int,
        meanwhile: () async throws -> Void
    ) async throws -> RecordingJournal {
        let journal = try task(url) { $0.connections = connections }
        let transfer = try start(journal)
        try await meanwhile()
        await transfer.ended()
        return journal
    }
}

/// Connections that join the first one, and those that are turned away.
@Suite(.timeLimit(.minutes(2))) struct TransferJoiningTests {
    // MARK: Servers without validators

    private static let digest = Checksum.Algorithm.sha256.checksum(of: Large.content)

    @Test(arguments: [nil, "W/\"v1\""])
    func `a file whose digest is known comes by several connections without a strong validator`(
        tag: String?
    ) async throws {
        let hold = ServedFile.Hold(afterBytes: 64 << 10)
        let held = Large.file.with {
            $0.hold = hold
            $0.entityTag = tag
        }
        try await withServer({ held.answer(to: $0) }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin")) {
                    $0.connections = 4
                    $0.checksum = Self.digest
                }
                let transfer = try site.start(journal)
                await server.waitForRequest(count: 3)
                hold.until.open()
                await transfer.ended()
                expectComplete(Large.content, site, journal)
                #expect(journal.record.integrity == .checksum)
                #expect(server.requests.dropFirst().allSatisfy { $0["Range"] != nil })
                #expect(server.requests.allSatisfy { $0["If-Range"] == nil })
            }
        }
    }

    enum Stranger: CaseIterable, Sendable {
        case total, date, tag, digest

        /// The file that the host has in place of the one that the first connection brings.
        var file: ServedFile {
            ServedFile(
                TestContent(seed: 22, count: Large.content.count + (self == .total ? 1 : 0)),
                entityTag: self == .tag ? "\"v2\"" : nil,
                lastModified: self == .date ? "Sat, 21 Nov 2026 08:30:00 GMT" : nil
            ).with {
                if self == .digest { $0.fields = [Self.digestField(of: Sample.content)] }
            }
        }

        static func digestField(of content: TestContent) -> (String, String) {
            let digest = Data(Checksum.Algorithm.sha256.digest(of: content.bytes))
            return ("Repr-Digest", "sha-256=:\(digest.base64EncodedString()):")
        }
    }

    @Test(arguments: Stranger.allCases)
    func `a part of another file does not join, although the digest would tell`(
        stranger: Stranger
    ) async throws {
        let hold = ServedFile.Hold(afterBytes: 64 << 10)
        let held = Large.file.with {
            $0.hold = hold
            $0.entityTag = stranger == .tag ? "\"v1\"" : nil
            $0.lastModified = stranger == .date ? Sample.lastModified : nil
            if stranger == .digest { $0.fields = [Stranger.digestField(of: Large.content)] }
        }
        try await withServer({ request in
            guard request["Range"] != nil else { return held.answer(to: request) }
            hold.until.open()
            return stranger.file.withoutConditions(request)
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin")) {
                    $0.connections = 4
                    $0.checksum = Self.digest
                }
                expectComplete(Large.content, site, journal)
                #expect(server.requests.count > 1)
                #expect(journal.record.tries == 0)
            }
        }
    }

    @Test func `without a digest and a strong validator one connection brings all`() async throws {
        let bare = Large.file.with { $0.entityTag = nil }
        try await withServer({ bare.answer(to: $0) }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin")) {
                    $0.connections = 4
                }
                expectComplete(Large.content, site, journal)
                #expect(server.requests.count == 1)
            }
        }
    }

    // MARK: Servers that do not want it

    enum Refusal: CaseIterable, Sendable {
        case forbidden, tooMany, unavailable, reset

        var steps: [Step] {
            switch self {
            case .forbidden: [.head("403 Forbidden", [("Content-Length", "0")])]
            case .tooMany: [.head("429 Too Many Requests", [("Content-Length", "0")])]
            case .unavailable:
                [.head("503 Service Unavailable", [("Content-Length", "0")]), .close]
            case .reset: [.reset]
            }
        }
    }

    @Test(arguments: Refusal.allCases)
    func `a host that forbids a third connection gets two`(refusal: Refusal) async throws {
        let door = Door(width: 2)
        let hold = ServedFile.Hold(afterBytes: 64 << 10)
        let held = Large.file.with { $0.hold = hold }
        try await withServer({ request in
            door.lets(request) ? held.answer(to: request) : refusal.steps
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"), connections: 6) {
                    await server.waitForRequest(count: 3)
                    hold.until.open()
                }
                expectComplete(Large.content, site, journal)
                #expect(door.most == 2)
                #expect(door.refused > 0)
                #expect(journal.record.tries == 0)
            }
        }
    }

    enum Silence: CaseIterable, Sendable {
        case noAnswer, headAlone

        func steps(_ request: RecordedRequest) -> [Step] {
            let count = Large.content.count
            guard self == .headAlone, let range = request.range(of: count) else { return [.stall] }
            let value = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(count)"
            let fields = [
                ("Content-Length", "\(range.count)"), ("Content-Range", value), ("ETag", "\"v1\""),
            ]
            return [.head("206 Partial Content", fields), .stall]
        }
    }

    @Test(arguments: Silence.allCases)
    func `a host that takes a third connection and does not serve it holds up nothing`(
        silence: Silence
    ) async throws {
        let door = Door(width: 2)
        let hold = ServedFile.Hold(afterBytes: 64 << 10)
        let held = Large.file.with { $0.hold = hold }
        // Whoever waits for the silent ones waits longer than this test may take.
        var network = NetworkConfiguration()
        network.silenceTimeout = .seconds(3600)
        network.connectTimeout = .seconds(3600)
        try await withServer({ request in
            door.lets(request) ? held.answer(to: request) : silence.steps(request)
        }) { server in
            try await withSite(network: network) { site in
                let journal = try await site.download(server.url("/file.bin"), connections: 4) {
                    await server.waitForRequest(count: 3)
                    hold.until.open()
                }
                expectComplete(Large.content, site, journal)
                #expect(door.most == 2)
                #expect(journal.record.tries == 0)
            }
        }
    }

    @Test func `what a host allows is remembered for the next file`() async throws {
        let door = Door(width: 2)
        let hold = ServedFile.Hold(afterBytes: 64 << 10)
        let held = Large.file.with { $0.hold = hold }
        try await withServer({ request in
            door.lets(request) ? held.answer(to: request) : Refusal.forbidden.steps
        }) { server in
            try await withSite { site in
                let first = try site.task(server.url("/file.bin")) { $0.connections = 8 }
                let transfer = try site.start(first)
                await server.waitForRequest(count: 8)
                while transfer.live.connections > 2 { await Task.yield() }
                hold.until.open()
                await transfer.ended()
                #expect(first.record.state == .completed)
                let refused = door.refused
                #expect(refused >= 6)
                // Nobody could know it a second time: whoever asks too much now has not learned.
                door.widen()
                let second = try site.task(server.url("/other.bin"), id: 2) { $0.connections = 8 }
                let before = server.requests.count
                try await site.run(second)
                #expect(second.record.state == .completed)
                let joined = server.requests.dropFirst(before).filter { $0["Range"] != nil }
                #expect(joined.count < 7)
            }
        }
    }

    @Test func `all tasks together leave a host in peace`() async throws {
        let hold = ServedFile.Hold(afterBytes: 64 << 10)
        let held = Large.file.with { $0.hold = hold }
        try await withServer({ held.answer(to: $0) }) { server in
            try await withSite { site in
                var running: [(RecordingJournal, RunningTransfer)] = []
                for id in 1...3 {
                    let journal = try site.task(server.url("/\(id).bin"), id: Int64(id)) {
                        $0.connections = 8
                    }
                    running.append((journal, try site.start(journal)))
                    await server.waitForRequest(count: min(running.count, 2) * 8)
                }
                // The last first: what it has opened, the others have closed before.
                func open() -> Int {
                    running.reversed().reduce(0) { $0 + $1.1.live.connections }
                }
                await server.waitForRequest(count: 16)
                // The third task's first connection comes when one of the others has gone.
                while running[2].1.live.connections == 0 {
                    #expect(open() <= 16)
                    await Task.yield()
                }
                #expect(running.allSatisfy { $0.1.live.connections > 0 })
                hold.until.open()
                for (journal, transfer) in running {
                    await transfer.ended()
                    #expect(journal.record.state == .completed)
                }
            }
        }
    }

    @Test func `a seventeenth task waits for a place at its host, and a stop ends the wait`()
        async throws
    {
        let hold = ServedFile.Hold(afterBytes: 1 << 10)
        let held = Sample.file.with { $0.hold = hold }
        try await withServer({ held.answer(to: $0) }) { server in
            try await withSite { site in
                var running = try (1...16).map { try site.start($0, at: server) }
                await server.waitForRequest(count: 16)
                let stopped = try site.start(17, at: server)
                let last = try site.start(18, at: server)
                try stopped.0.apply(.pause)
                stopped.1.stop()
                await stopped.1.ended()
                #expect(last.1.live.connections == 0)
                #expect(server.requests.count == 16)
                running.append(last)
                hold.until.open()
                for (journal, transfer) in running {
                    await transfer.ended()
                    #expect(journal.record.state == .completed)
                }
                #expect(server.requests.count == 17)
            }
        }
    }

    @Test func `a task whose disk does not answer leaves its place to others meanwhile`()
        async throws
    {
        let hold = ServedFile.Hold(afterBytes: 1 << 10)
        let held = Sample.file.with { $0.hold = hold }
        try await withServer({ held.answer(to: $0) }) { server in
            try await withSite { site in
                var running = try (1...16).map { try site.start($0, at: server) }
                await server.waitForRequest(count: 16)
                let next = try site.start(17, at: server)
                running[0].1.noteDisk(isStuck: true)
                running[0].1.noteDisk(isStuck: true)
                await server.waitForRequest(count: 17)
                running[0].1.noteDisk(isStuck: false)
                // One of seventeen ends, so that there is still no place.
                let last = try site.start(18, at: server)
                try next.0.apply(.pause)
                next.1.stop()
                await next.1.ended()
                #expect(last.1.live.connections == 0)
                #expect(server.requests.count == 17)
                // This one ends while it takes no place.
                running[1].1.noteDisk(isStuck: true)
                await server.waitForRequest(count: 18)
                running.append(last)
                hold.until.open()
                for (journal, transfer) in running {
                    await transfer.ended()
                    #expect(journal.record.state == .completed)
                }
                #expect(server.requests.count == 18)
            }
        }
    }

    enum Oddity: CaseIterable, Sendable {
        case wholeFile, anotherTag, anotherDate, noContentRange, wrongOffset, wrongTotal, notFound
        case multipart, encoded, closed

        func steps(_ request: RecordedRequest, _ file: ServedFile) -> [Step] {
            let total = file.content.count
            guard let range = request.range(of: total), !range.isEmpty else { return [.close] }
            let value = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)"
            let length = ("Content-Length", "\(range.count)")
            let tag = ("ETag", "\"v1\"")
            let body = Step.sendPattern(file.content, range)
            let ok = "206 Partial Content"
            switch self {
            case .wholeFile:
                var fields = file
                fields.acceptsRanges = false
                return fields.answer(to: request)
            case .anotherTag:
                return [.head(ok, [length, ("Content-Range", value), ("ETag", "\"v2\"")]), body]
            case .anotherDate:
                let date = ("Last-Modified", Sample.lastModified)
                return [.head(ok, [length, ("Content-Range", value), date]), body]
            case .noContentRange:
                return [.head(ok, [length, tag]), body]
            case .wrongOffset:
                let wrong = "bytes 0-\(range.count - 1)/\(total)"
                let first = Step.sendPattern(file.content, 0..<Int64(range.count))
                return [.head(ok, [length, ("Content-Range", wrong), tag]), first]
            case .wrongTotal:
                let wrong = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total + 1)"
                return [.head(ok, [length, ("Content-Range", wrong), tag]), body]
            case .notFound:
                return [.head("404 Not Found", [("Content-Length", "0")])]
            case .multipart:
                let type = ("Content-Type", "multipart/byteranges; boundary=x")
                return [.head(ok, [length, type, tag]), body]
            case .encoded:
                let encoding = ("Content-Encoding", "gzip")
                return [.head(ok, [length, ("Content-Range", value), tag, encoding]), body]
            case .closed:
                return [.close]
            }
        }
    }

    @Test(arguments: Oddity.allCases)
    func `ranges that are answered wrongly leave the first connection to go on alone`(
        oddity: Oddity
    ) async throws {
        let slow = Large.file.with { $0.bytesPerSecond = 16_000_000 }
        try await withServer({ request in
            request.number == 1 ? slow.answer(to: request) : oddity.steps(request, Large.file)
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin")) {
                    $0.connections = 4
                }
                expectComplete(Large.content, site, journal)
                #expect(journal.record.integrity == .validators)
            }
        }
    }

    @Test func `a server that gives every answer another tag brings the file by one stream`()
        async throws
    {
        try await withServer({ request in
            Large.file.with {
                $0.entityTag = "\"\(request.number)\""
                $0.bytesPerSecond = 16_000_000
            }
            .answer(to: request)
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin")) {
                    $0.connections = 4
                }
                expectComplete(Large.content, site, journal)
            }
        }
    }

    @Test func `a host whose connections another task has refuses for as long as that has them`()
        async throws
    {
        let hold = ServedFile.Hold(afterBytes: 64 << 10)
        let held = Large.file.with { $0.hold = hold }
        try await withServer({ request in
            if request.number == 1 { return held.answer(to: request) }
            guard hold.until.isOpen else { return [.head("403 No", [("Content-Length", "0")])] }
            return Large.file.answer(to: request)
        }) { server in
            try await withSite { site in
                let host = "http://127.0.0.1:\(server.port)"
                site.engine.hosts.restore([
                    HostKnowledge(host: host, limit: 1, useful: nil, age: .zero)
                ])
                let first = try site.task(server.url("/a.bin"))
                let transfer = try site.start(first)
                await first.waitUntil { $0.file != nil }
                let second = try site.task(server.url("/b.bin"), id: 2)
                try await site.run(second)
                expectFailure(.serverForbidden, isTransient: true, site, second)
                hold.until.open()
                await transfer.ended()
                try await site.run(second)
                #expect(second.record.state == .completed, "\(second.record)")
                let isWhole = site.holds(Large.content, as: "b.bin")
                #expect(isWhole)
            }
        }
    }

    @Test func `parts that are shorter than asked are asked for on`() async throws {
        try await withServer({ request in
            guard request.number > 1, let range = request.range(of: Large.content.count) else {
                return Large.file.with { $0.bytesPerSecond = 8_000_000 }.answer(to: request)
            }
            let part = range.prefix(400_000)
            let end = range.lowerBound + Int64(part.count)
            let value = "bytes \(range.lowerBound)-\(end - 1)/\(Large.content.count)"
            let fields = [
                ("Content-Length", "\(part.count)"), ("Content-Range", value), ("ETag", "\"v1\""),
            ]
            return [
                .head("206 Partial Content", fields),
                .sendPattern(Large.content, range.lowerBound..<end),
            ]
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin")) {
                    $0.connections = 3
                }
                expectComplete(Large.content, site, journal)
                #expect(server.requests.count > 4)
            }
        }
    }

    // MARK: Redirects

    @Test func `those that join ask where the redirects led`() async throws {
        let hold = ServedFile.Hold(afterBytes: 64 << 10)
        let held = Large.file.with { $0.hold = hold }
        try await withServer({ request in
            request.path == "/file.bin"
                ? [.head("302 Found", [("Location", "/cdn/1"), ("Content-Length", "0")])]
                : held.answer(to: request)
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"), connections: 4) {
                    await server.waitForRequest(count: 5)
                    hold.until.open()
                }
                #expect(journal.record.state == .completed)
                let homes = server.requests.filter { $0.path == "/file.bin" }
                #expect(homes.count == 1)
                #expect(server.requests.count >= 5)
            }
        }
    }

    @Test func `a link that is good for once is got anew from the task's own URL`() async throws {
        let used = Mutex<Set<String>>([])
        let tickets = Mutex(0)
        let hold = ServedFile.Hold(afterBytes: 64 << 10)
        let held = Large.file.with { $0.hold = hold }
        let other = try FaultServer(
            script: .init { request in
                let isFresh = used.withLock { $0.insert(request.target).inserted }
                return isFresh
                    ? held.answer(to: request)
                    : [.head("403 Forbidden", [("Content-Length", "0")])]
            }
        )
        defer { other.stop() }
        try await withServer({ _ in
            let ticket = tickets.withLock { tickets in
                tickets += 1
                return tickets
            }
            let url = "http://localhost:\(other.port)/file.bin?ticket=\(ticket)"
            return [.head("302 Found", [("Location", url), ("Content-Length", "0")])]
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/file.bin"), connections: 3) {
                    await server.waitForRequest(count: 3)
                    hold.until.open()
                }
                #expect(journal.record.state == .completed)
                #expect(site.holds(Large.content, as: journal.record.file?.name ?? ""))
                #expect(tickets.withLock(\.self) >= 3)
            }
        }
    }
}
