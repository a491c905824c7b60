// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Testing
import iDownBus
import iDownSettings
import iDownTesting

/// What a client may not ask for: refused by its contract name, and nothing is changed.
@Suite(.timeLimit(.minutes(5)))
struct RefusalTests {
    /// A service with one task in its list, and the same list and files when `body` is through.
    private func unchanged(_ body: (ServiceUnderTest) async throws -> Void) async throws {
        try await withService { service in
            _ = try await service.add("http://127.0.0.1:9/there") { $0.paused = true }
            let before = try await Traces.of(service)
            let process = try await service.processID()
            try await body(service)
            #expect(try await Traces.of(service) == before)
            #expect(try await service.processID() == process)
        }
    }

    @Test func `what is no URL for idown is refused by name`() async throws {
        let tooLong = "http://127.0.0.1/" + String(repeating: "a", count: 64 << 10)
        let rows: [(url: String, code: ManagerError.Code)] = [
            ("", .invalidURL),
            ("not a URL", .invalidURL),
            ("www.example.org/file", .invalidURL),
            ("/etc/passwd", .invalidURL),
            ("http:", .invalidURL),
            ("http://", .invalidURL),
            ("http:///file", .invalidURL),
            ("http:/one/slash", .invalidURL),
            ("http:////host/file", .invalidURL),
            ("http://host\\@other/file", .invalidURL),
            ("http://127.0.0.1:99999/file", .invalidURL),
            ("http://127.0.0.1/line\nbreak", .invalidURL),
            ("http://127.0.0.1/bell\u{07}", .invalidURL),
            ("http://127.0.0.1/delete\u{7F}", .invalidURL),
            (tooLong, .limitExceeded),
            ("file:///etc/passwd", .unsupportedScheme),
            ("FILE:///etc/passwd", .unsupportedScheme),
            ("javascript:alert(1)", .unsupportedScheme),
            ("data:text/plain,hello", .unsupportedScheme),
            ("ftp://127.0.0.1/folder/", .invalidURL),
            ("sftp://127.0.0.1/~/", .invalidURL),
            ("scp://127.0.0.1/file", .unsupportedScheme),
            ("tftp://127.0.0.1/file", .unsupportedScheme),
            ("magnet:?xt=urn:btih:0", .unsupportedScheme),
            ("idown:?url=http%3A%2F%2F127.0.0.1%2Ffile", .unsupportedScheme),
        ]
        try await unchanged { service in
            for (url, code) in rows {
                let shown = String(url.prefix(40))
                let single = await refusal(shown) {
                    _ = try await service.manager.call("AddURL", url, returning: String.self)
                }
                #expect(single == code, "AddURL \(shown)")
                let several = await refusal(shown) {
                    _ = try await service.client.addURLs(["http://127.0.0.1:9/ok", url])
                }
                #expect(several == code, "AddURLs \(shown)")
            }
        }
    }

    @Test func `a list with a bad URL is refused as a whole, and its place is named`() async throws
    {
        try await unchanged { service in
            let good = "http://127.0.0.1:9/good"
            let urls = [good, good + "2", "http://user:geheim@/x?token=geheim", good + "3"]
            let error = await #expect(throws: ManagerError.self) {
                try await service.client.addURLs(urls)
            }
            #expect(error?.code == .invalidURL)
            #expect(error?.message.contains("URL 3") == true, "\(String(describing: error))")
            #expect(error?.message.contains("geheim") == false, "\(String(describing: error))")
        }
    }

    @Test func `options that are not the contract's are refused`() async throws {
        let rows: [(key: String, value: Value)] = [
            ("speed", .uint32(1)),
            ("Paused", .boolean(true)),
            // Without effect so far, so not taken.
            ("when-done-command", .string("rm")), ("when-done", .string("run")),
            ("checksum", .string("sha-256=00")),
            ("checksum", .string("crc32=00000000")),
            ("mirrors", .string("http://127.0.0.1/")),
            ("mirrors", ["http://127.0.0.1/", "no URL"].busValue),
            ("speed-limit", .uint32(1)),
            ("speed-limit", .uint64(.max)),
            ("expected-size", .int64(-1)),
            ("expected-size", .uint64(.max)),
            ("paused", .string("true")),
            ("priority", .uint32(1)),
            ("connections", .int32(1)),
            ("connections", .uint32(0)),
            ("connections", .uint32(17)),
            ("directory", .objectPath("/tmp")),
            ("filename", .int32(1)),
            ("filename", .string("")),
            ("filename", .string("../x")),
            ("filename", .string(".x")),
            ("filename", .string("..")),
            ("filename", .string("a/b")),
            ("filename", .string("a\nb")),
            ("filename", .string(String(repeating: "x", count: 256))),
            ("token", .string("")),
            ("on-existing", .string("overwrite")),
            ("referrer", .string("http://a/\r\nX: y")),
            ("user-agent", .string("a\nb")),
            ("headers", .string("X: y")),
            ("headers", ["X": Value.int32(1)].busValue),
            ("headers", (1...65).map { "X-\($0)" }.headers),
            ("headers", ["X y"].headers),
            ("headers", [""].headers),
            ("headers", ["X": "a\r\nB: c"].busValue),
            ("headers", ["X": String(repeating: "x", count: 9000)].busValue),
        ]
        let forbidden = [
            "Host", "range", "If-Range", "If-None-Match", "Accept-Encoding", "Connection", "TE",
            "Transfer-Encoding", "content-length", "Upgrade", "Proxy-Authorization",
        ]
        try await unchanged { service in
            for (key, value) in rows + forbidden.map({ ("headers", [$0].headers) }) {
                let code = await refusal("\(key) \(value)") {
                    _ = try await service.manager.call(
                        "AddURLWithOptions",
                        "http://127.0.0.1:9/file",
                        [key: value],
                        returning: String.self
                    )
                }
                #expect(code == .invalidOption, "\(key) \(value)")
            }
            let twoNames = await refusal {
                var options = AddOptions()
                options.filename = "one"
                _ = try await service.client.addURLs(
                    ["http://127.0.0.1:9/1", "http://127.0.0.1:9/2"],
                    options: options
                )
            }
            #expect(twoNames == .invalidOption)
        }
    }

    @Test func `folders that are not to be written to are refused`() async throws {
        try await withTemporaryFolder { outside in
            try TestFile.write("a file", to: "\(outside)/file")
            mkdir("\(outside)/link-home", 0o700)
            try await withService { service in
                let home = service.home.path
                symlink("\(home)/.config", "\(home)/visible")
                let before = try await Traces.of(service)
                let folders = [
                    "", "relative", "./relative", "~/Downloads",
                    "\(home)/.hidden", "\(home)/.hidden/below", "\(home)/.config/autostart",
                    "\(home)/.local/state/idown", "\(home)/run/x", "\(home)/visible/autostart",
                    "\(home)/x/../.config/y", "\(outside)/file", "\(outside)/file/below",
                    "/proc/idown", "/dev/null/x",
                    "\(outside)/" + String(repeating: "n", count: 300),
                ]
                for folder in folders {
                    let code = await refusal(folder) {
                        _ = try await service.add("http://127.0.0.1:9/x") { $0.directory = folder }
                    }
                    #expect(code == .invalidDestination, "\(folder)")
                }
                for folder in folders where folder.hasPrefix("/") {
                    let code = await refusal(folder) {
                        try await service.client.set(.downloadDirectory, to: .text(folder))
                    }
                    #expect(code == .invalidDestination, "DownloadDirectory \(folder)")
                }
                #expect(try await Traces.of(service) == before)
                #expect(TestFile.names(in: outside) == ["file", "link-home"])
                #expect(
                    try await service.client.value(of: .downloadDirectory)
                        == .text(service.home.downloads)
                )
            }
        }
    }

    @Test func `an unknown id is NoSuchTask for every method that takes one`() async throws {
        let path = "/org/idown/Manager1/task"
        let ids = ["", "0", "2", "-1", "+1", "01", "1 ", "one", "99999999999999999999", "1\n"]
        try await unchanged { service in
            for id in ids + ["\(path)/2", "\(path)/", "/org/idown/Manager1/1"] {
                for method in ["Pause", "Resume", "Retry", "Cancel", "Remove"] as [MemberName] {
                    let code = await refusal("\(method) \(id)") {
                        _ = try await service.manager.call(method, id)
                    }
                    #expect(code == .noSuchTask, "\(method) “\(id)”")
                }
                let code = await refusal(id) { _ = try await service.task(id) }
                #expect(code == .noSuchTask, "GetTask “\(id)”")
            }
        }
    }

    @Test func `wrong arguments, members and properties get the specification's errors`()
        async throws
    {
        try await unchanged { service in
            let manager = service.manager
            let nowhere = Proxy(
                manager.connection,
                manager.destination,
                "/org/idown/Nowhere",
                manager.interface
            )
            let elsewhere = Proxy(
                manager.connection,
                manager.destination,
                manager.path,
                "org.idown.Manager2"
            )
            let rows: [(code: ManagerError.Code, call: () async throws -> Void)] = [
                (.invalidArguments, { _ = try await manager.call("AddURL", UInt32(1)) }),
                (.invalidArguments, { _ = try await manager.call("AddURL") }),
                (.invalidArguments, { _ = try await manager.call("AddURLs", ["http://a/"]) }),
                (.invalidArguments, { _ = try await manager.call("Quit", "now") }),
                (.unknownMethod, { _ = try await manager.call("Explode") }),
                (.unknownObject, { _ = try await nowhere.call("Quit") }),
                (.unknownInterface, { _ = try await elsewhere.call("Quit") }),
                (.unknownProperty, { _ = try await manager.get("Colour", as: String.self) }),
                (.invalidArguments, { try await manager.set("SpeedLimit", to: UInt32(1)) }),
                (.propertyReadOnly, { try await manager.set("TaskCount", to: UInt32(7)) }),
                (.propertyReadOnly, { try await manager.set("Version", to: "2") }),
            ]
            for (number, row) in rows.enumerated() {
                let code = await refusal("row \(number)", row.call)
                #expect(code == row.code, "row \(number)")
            }
        }
    }

    @Test func `a property out of its range is InvalidArgs and keeps its value`() async throws {
        try await unchanged { service in
            let manager = service.manager
            for count in [0, 65, UInt32.max] {
                let code = await refusal("\(count)") {
                    try await manager.set("MaxConcurrentDownloads", to: count)
                }
                #expect(code == .invalidArguments, "\(count)")
            }
            let wrongType = await refusal {
                try await manager.set("MaxConcurrentDownloads", to: Int32(2))
            }
            #expect(wrongType == .invalidArguments)
            for path in ["relative", "~"] {
                let code = await refusal(path) {
                    try await manager.set("DownloadDirectory", to: path)
                }
                #expect(code == .invalidArguments, "\(path)")
            }
            let count = try await service.client.value(of: .maxConcurrentDownloads)
            #expect(count == .number(3))
            let folder = try await service.client.value(of: .downloadDirectory)
            #expect(folder == .text(service.home.downloads))
        }
    }

    @Test func `a NUL within a URL's escapes makes no name that is cut short`() async throws {
        let content = TestContent(seed: 50, count: 100)
        let host = try ChangingHost(ServedFile(content))
        defer { host.stop() }
        try await withService { service in
            let url = host.url("/a.txt%00.bin")
            do {
                let id = try await service.add(url)
                try await service.waitForState("completed", "failed", of: id)
                for name in TestFile.names(in: service.home.downloads) {
                    #expect(name != "a.txt")
                }
            } catch let error as ManagerError {
                #expect(error.code == .invalidURL)
            }
        }
    }
}

extension [String] {
    /// Headers of these names, all with the same value.
    fileprivate var headers: Value {
        Dictionary(uniqueKeysWithValues: map { ($0, "value") }).busValue
    }
}
