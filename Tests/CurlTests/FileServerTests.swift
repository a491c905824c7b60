// SPDX-License-Identifier: Apache-2.0

import Curl
import Glibc
import Testing
import iDownTesting

/// FTP and FTPS, by real servers.
@Suite(.timeLimit(.minutes(2)))
struct FileServerTests {
    private static let content = TestContent(seed: 21, count: 300_007)
    private static let changed: Int64 = 1_700_000_000

    private func withRoot<Value>(_ body: (String) async throws -> Value) async throws -> Value {
        try await withTemporaryFolder { folder in
            chmod(folder, 0o755)
            let root = folder + "/root"
            mkdir(root, 0o755)
            mkdir(root + "/sub folder", 0o755)
            for path in ["/f", "/sub folder/f"] {
                try Self.content.write(toFile: root + path)
                let time = timeval(tv_sec: Int(Self.changed), tv_usec: 0)
                #expect(utimes(root + path, [time, time]) == 0)
            }
            try TestFile.write("", to: root + "/empty")
            return try await body(root)
        }
    }

    private func expect(
        _ sink: RecordingSink,
        _ range: Range<Int64>,
        asked offset: Int64? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let file = RemoteFile(
            size: Self.content.count,
            modified: Self.changed,
            offset: offset,
            length: Int64(range.count)
        )
        #expect(sink.files == [file], sourceLocation: sourceLocation)
        // A failed comparison of long arrays would be drawn element by element.
        let isWhole = sink.body == Self.content.bytes(in: range)
        #expect(isWhole, "\(sink.body.count) bytes came", sourceLocation: sourceLocation)
        #expect(sink.lines == [], sourceLocation: sourceLocation)
    }

    @Test func `FTP brings a file with its size and time, and parts of it`() async throws {
        try await withRoot { root in
            try await withFTPServer(root: root, login: ("me", "secret")) { server in
                try await withPool { pool in
                    let count = Self.content.count
                    let url = try URLReference(server.url("/sub%20folder/f", login: "me:secret@"))
                    let whole = RecordingSink()
                    let outcome = await pool.run(.init(url: url), sink: whole)
                    #expect(outcome.result == .ok, "\(outcome)")
                    expect(whole, 0..<count)

                    let rest = RecordingSink()
                    var request = TransferRequest(url: url)
                    request.range = (300000, nil)
                    #expect(await pool.run(request, sink: rest).result == .ok)
                    expect(rest, 300_000..<count, asked: 300_000)

                    let part = RecordingSink()
                    var other = TransferRequest(url: url)
                    other.range = (5, 1004)
                    #expect(await pool.run(other, sink: part).result == .ok)
                    expect(part, 5..<1005, asked: 5)
                    // All in one session.
                    #expect(server.commands.filter { $0.hasPrefix("USER") } == ["USER me"])
                }
            }
        }
    }

    @Test
    func `FTP brings all of a file that is longer than SIZE says, where the end is asked for`()
        async throws
    {
        try await withRoot { root in
            try await withFTPServer(root: root, oddity: .understatesSize) { server in
                try await withPool { pool in
                    let url = try URLReference(server.url("/sub%20folder/f"))
                    var request = TransferRequest(url: url)
                    let cut = RecordingSink()
                    _ = await pool.run(request, sink: cut)
                    #expect(Int64(cut.body.count) == Self.content.count - 1000)

                    request.readsToEnd = true
                    for offset in [nil, 250_000] as [Int64?] {
                        request.range = offset.map { ($0, nil) }
                        let sink = RecordingSink()
                        #expect(await pool.run(request, sink: sink).result == .ok)
                        let start = offset ?? 0
                        let size = Self.content.count - 1000
                        #expect(sink.files.map(\.size) == [size])
                        #expect(sink.files.map(\.offset) == [offset])
                        #expect(sink.files.map(\.length) == [size - start])
                        #expect(sink.files.map(\.modified) == [Self.changed])
                        let isWhole =
                            sink.body == Self.content.bytes(in: start..<Self.content.count)
                        #expect(isWhole, "\(sink.body.count) bytes came")
                    }
                }
            }
        }
    }

    @Test func `nobody waits for the last words of a server at the end`() async throws {
        try await withRoot { root in
            try await withFTPServer(root: root, oddity: .ignoresQuit) { server in
                let pool = try TransferPool()
                let url = try URLReference(server.url("/f"))
                let outcome = await pool.run(TransferRequest(url: url), sink: RecordingSink())
                #expect(outcome.result == .ok, "\(outcome)")
                try await within("the end of the pool") { await pool.shutDown() }
            }
        }
    }

    @Test func `a length that no file has is none`() async throws {
        try await withRoot { root in
            try await withFTPServer(root: root, oddity: .boastsOfSize) { server in
                try await withPool { pool in
                    let url = try URLReference(server.url("/sub%20folder/f"))
                    let sink = RecordingSink()
                    var request = TransferRequest(url: url)
                    request.range = (300000, nil)
                    _ = await pool.run(request, sink: sink)
                    #expect(sink.files.map(\.length) == [.max])
                    #expect(sink.files.map(\.size) == [nil])
                    #expect(sink.body == Self.content.bytes(in: 300_000..<Self.content.count))
                }
            }
        }
    }

    @Test func `what FTP cannot give has a code of its own`() async throws {
        try await withRoot { root in
            try await withFTPServer(root: root, login: ("me", "secret")) { server in
                try await withPool { pool in
                    func result(
                        _ path: String,
                        _ login: String = "me:secret@",
                        range: (first: Int64, last: Int64?)? = nil
                    ) async throws -> (CurlCode, RecordingSink) {
                        let sink = RecordingSink()
                        let url = try URLReference(server.url(path, login: login))
                        var request = TransferRequest(url: url)
                        request.range = range
                        return (await pool.run(request, sink: sink).result, sink)
                    }
                    #expect(try await result("/none").0 == .remoteFileNotFound)
                    #expect(try await result("/none/f").0 == .remoteAccessDenied)
                    #expect(try await result("/f", "me:wrong@").0 == .loginDenied)
                    #expect(try await result("/f", "").0 == .loginDenied)
                    #expect(try await result("/f", range: (400000, nil)).0 == .beyondEnd)
                    #expect(try await result("/sub%20folder/").0 == .badRequest)
                    let (code, sink) = try await result("/empty")
                    #expect(code == .ok)
                    #expect(sink.files.map(\.size) == [0])
                    #expect(sink.files.map(\.length) == [0])
                    // Translated line ends would make another file of it.
                    #expect(try await result("/f;type=a").1.body == Self.content.bytes)
                }
            }
        }
    }

    @Test func `FTPS is trusted by its certificate alone`() async throws {
        try await withRoot { root in
            let folder = root + ".ftps"
            mkdir(folder, 0o700)
            let certificates = try await TestCertificates(in: folder)
            try await withSecureFTPServer(root: root, certificates: certificates, in: folder) {
                server in
                try await withPool { pool in
                    var request = TransferRequest(url: try URLReference(server.url("/f")))
                    request.certificates.file = certificates.authority
                    let sink = RecordingSink()
                    let outcome = await pool.run(request, sink: sink)
                    #expect(outcome.result == .ok, "\(outcome)")
                    expect(sink, 0..<Self.content.count)

                    request.range = (1000, nil)
                    let rest = RecordingSink()
                    #expect(await pool.run(request, sink: rest).result == .ok)
                    expect(rest, 1000..<Self.content.count, asked: 1000)

                    request.range = (5, 1004)
                    let part = RecordingSink()
                    #expect(await pool.run(request, sink: part).result == .ok)
                    expect(part, 5..<1005, asked: 5)

                    request.certificates.file = nil
                    #expect(await pool.run(request).result == .peerVerification)
                }
            }
        }
    }
}
