// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownState
import iDownTesting
import iDownloader

/// Transfers that are asked to end, wherever they are at that moment.
@Suite(.timeLimit(.minutes(5))) struct StopTests {
    /// Pauses the task, as a person does.
    private func pause(_ journal: RecordingJournal, _ transfer: RunningTransfer) async throws {
        try journal.apply(.pause)
        transfer.stop()
        await transfer.ended()
        #expect(journal.record.state == .paused)
        #expect(journal.record.failure == nil)
        #expect(journal.endings == [transfer.attempt])
        #expect(!journal.kinds.contains(.failed))
    }

    @Test func `a transfer in which nothing has happened can be stopped`() async throws {
        try await withServer({ Sample.file.answer(to: $0) }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                let transfer = try site.start(journal)
                try await pause(journal, transfer)
                try await site.run(journal)
                expectComplete(Sample.content, site, journal)
            }
        }
    }

    @Test func `a transfer that connects can be stopped`() async throws {
        let port = try SilentPort()
        try await withSite { site in
            let journal = try site.task(port.url)
            let transfer = try site.start(journal)
            // Nothing else can be seen of a connection that does not stand.
            while transfer.live.connections == 0 { await Task.yield() }
            try await pause(journal, transfer)
            #expect(site.files.isEmpty)
            #expect(journal.events.isEmpty)
        }
    }

    @Test func `a transfer that waits for its head can be stopped`() async throws {
        try await withServer({ _ in [.stall] }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                let transfer = try site.start(journal)
                await server.waitForRequest()
                try await pause(journal, transfer)
                #expect(site.files.isEmpty)
                #expect(journal.events.isEmpty)
            }
        }
    }

    @Test func `a transfer stopped in mid-body fetches only the rest`() async throws {
        let hold = ServedFile.Hold(afterBytes: Sample.cut)
        let held = Sample.file.with { $0.hold = hold }
        try await withServer({ request in
            request.number == 1 ? held.answer(to: request) : Sample.file.answer(to: request)
        }) { server in
            try await withSite(checkpointInterval: .milliseconds(1)) { site in
                let journal = try site.task(server.url("/file.bin"))
                let transfer = try site.start(journal)
                await journal.waitUntil { $0.segments.byteCount == Sample.cut }
                try await pause(journal, transfer)
                expectTrueClaims(Sample.content, site, journal)
                #expect(site.files == ["file.bin.part"])
                #expect(site.permissions(of: "file.bin.part") == 0o600)

                try await site.run(journal)
                expectComplete(Sample.content, site, journal)
                #expect(server.requests.map { $0["Range"] } == [nil, "bytes=400003-"])
                #expect(server.requests.last?["If-Range"] == "\"v1\"")
            }
        }
    }

    @Test func `bytes that no checkpoint has named yet are kept`() async throws {
        let hold = ServedFile.Hold(afterBytes: Sample.cut)
        let held = Sample.file.with { $0.hold = hold }
        try await withServer({ held.answer(to: $0) }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                let transfer = try site.start(journal)
                await hold.reached.waitUntilOpen()
                while transfer.live.bytes < Sample.cut { await Task.yield() }
                #expect(journal.kinds == [.opened])
                try await pause(journal, transfer)
                #expect(journal.kinds == [.opened, .checkpointed])
                #expect(journal.record.segments.prefixLength == Sample.cut)
                expectTrueClaims(Sample.content, site, journal)
            }
        }
    }

    @Test func `a transfer stopped again and again becomes complete`() async throws {
        let step: Int64 = 100_000
        let hold = ServedFile.Hold(afterBytes: step)
        let held = Sample.file.with { $0.hold = hold }
        try await withServer({ held.answer(to: $0) }) { server in
            try await withSite(checkpointInterval: .milliseconds(1)) { site in
                let journal = try site.task(server.url("/file.bin"))
                for round in 1...7 {
                    let transfer = try site.start(journal)
                    await journal.waitUntil { $0.segments.byteCount == Int64(round) * step }
                    try journal.apply(.pause)
                    transfer.stop()
                    await transfer.ended()
                    expectTrueClaims(Sample.content, site, journal)
                }
                try await site.run(journal)
                expectComplete(Sample.content, site, journal)
                let ranges = server.requests.map { $0["Range"] }
                #expect(ranges == [nil] + (1...7).map { "bytes=\($0 * 100_000)-" })
            }
        }
    }

    @Test func `a transfer that opens its file can be stopped`() async throws {
        try await withServer({ Sample.file.answer(to: $0) }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                let (reached, until) = (Gate(), Gate())
                journal.before { event, _ in
                    if case .opened = event {
                        reached.open()
                        await until.waitUntilOpen()
                    }
                    return true
                }
                let transfer = try site.start(journal)
                await reached.waitUntilOpen()
                transfer.stop()
                until.open()
                await transfer.ended()
                #expect(journal.kinds.first == .opened)
                #expect(!journal.kinds.contains(.publishing))
                #expect(!journal.kinds.contains(.failed))
                expectTrueClaims(Sample.content, site, journal)
                #expect(site.files == ["file.bin.part"])
                try await site.run(journal)
                expectComplete(Sample.content, site, journal)
            }
        }
    }

    @Test func `once the name is on record, the publication is finished`() async throws {
        try await withServer({ Sample.file.answer(to: $0) }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                let (reached, until) = (Gate(), Gate())
                journal.before { event, _ in
                    if case .completed = event {
                        reached.open()
                        await until.waitUntilOpen()
                    }
                    return true
                }
                let transfer = try site.start(journal)
                await reached.waitUntilOpen()
                #expect(throws: Refusal.publishing) { try journal.apply(.pause) }
                transfer.stop()
                until.open()
                await transfer.ended()
                expectComplete(Sample.content, site, journal)
            }
        }
    }

    @Test func `a pause right before the publication loses nothing`() async throws {
        try await withServer({ Sample.file.answer(to: $0) }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                journal.before { event, journal in
                    if case .publishing = event { try journal.apply(.pause) }
                    return true
                }
                try await site.run(journal)
                #expect(journal.record.state == .paused)
                #expect(site.files == ["file.bin.part"])
                expectTrueClaims(Sample.content, site, journal)
                #expect(journal.record.segments.byteCount == Sample.content.count)

                journal.stepBack()
                try await site.run(journal)
                expectComplete(Sample.content, site, journal)
                #expect(server.requests.count == 1)
            }
        }
    }

    @Test func `a transfer that is stopped twice ends once`() async throws {
        try await withServer({ _ in [.stall] }) { server in
            try await withSite { site in
                let journal = try site.task(server.url("/file.bin"))
                let transfer = try site.start(journal)
                await server.waitForRequest()
                transfer.stop()
                transfer.stop()
                await transfer.ended()
                transfer.stop()
                #expect(journal.endings == [transfer.attempt])
            }
        }
    }
}

/// A port whose queue of connections is full: who connects next gets no answer at all.
private final class SilentPort {
    let url: String
    private var sockets: [Int32] = []

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        sockets.append(listener)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
        #expect(Self.with(&address) { bind(listener, $0, $1) } == 0)
        #expect(listen(listener, 0) == 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        #expect(Self.with(&address) { pointer, _ in getsockname(listener, pointer, &length) } == 0)
        url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/file.bin"
        // The queue takes one more than it was made for; what comes then is dropped.
        for _ in 0..<4 {
            let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
            let client = socket(AF_INET, Int32(type), 0)
            sockets.append(client)
            _ = Self.with(&address) { connect(client, $0, $1) }
        }
    }

    deinit { for socket in sockets { close(socket) } }

    private static func with(
        _ address: inout sockaddr_in,
        _ body: (UnsafeMutablePointer<sockaddr>?, socklen_t) -> Int32
    ) -> Int32 {
        withUnsafeMutableBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) {
                body($0.baseAddress, socklen_t(bytes.count))
            }
        }
    }
}
