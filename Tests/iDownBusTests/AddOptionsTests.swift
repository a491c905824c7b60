// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus

@Suite struct AddOptionsTests {
    /// The refusal of some options; nil if they are taken.
    private func refusal(_ options: [String: Value]) -> ManagerError? {
        do throws(ManagerError) {
            _ = try AddOptions(options)
            return nil
        } catch {
            return error
        }
    }

    private func headers(_ entries: [(String, String)]) -> [String: Value] {
        let entries = entries.map { Value.Entry(key: .string($0), value: .string($1)) }
        return ["headers": .dictionary(key: "s", value: "s", entries)]
    }

    @Test func `options survive the wire`() throws {
        var options = AddOptions()
        options.directory = "/tmp"
        options.filename = "a.iso"
        options.paused = true
        options.priority = -5
        options.connections = 16
        options.headers = [.init(name: "X-A", value: "1"), .init(name: "Cookie", value: "a=b; c")]
        options.referrer = "https://example.org/"
        options.userAgent = "me/1"
        options.token = "t"
        options.onExisting = .fail
        options.speedLimit = 1 << 40
        options.mirrors = ["https://a.org/", "https://b.org/"]
        options.checksum = "md5=00"
        options.expectedSize = 0
        options.whenDone = .reveal
        options.retryFor = 60
        options.cookies = "a=b; c=d"
        #expect(options.dictionary.count == 17)
        #expect(try AddOptions(options.dictionary) == options)
        #expect(AddOptions().dictionary.isEmpty)
        #expect(try AddOptions([:]) == AddOptions())
    }

    @Test(arguments: [
        "when-done-command", "Directory", "", "x",
    ])
    func `what has no effect is not accepted`(key: String) throws {
        let error = try #require(refusal([key: .string("")]))
        #expect(error.code == .invalidOption)
        #expect(error.message.contains("\"\(key)\""))
        #expect(error.message.contains("on-existing"))
    }

    @Test(
        arguments: [
            ("directory", .byte(1)), ("filename", .boolean(true)), ("paused", .string("yes")),
            ("priority", .uint32(1)), ("connections", .int32(1)), ("headers", .string("a: b")),
            ("referrer", .int32(1)), ("user-agent", .int32(1)), ("cookies", .int32(1)),
            ("token", .int32(1)),
            ("on-existing", .boolean(true)), ("speed-limit", .int64(1)), ("mirrors", .string("a")),
            ("mirrors", .array(of: "i", [])),
            ("checksum", .array(of: "y", [])), ("expected-size", .uint32(1)),
            ("retry-for", .uint32(1)),
        ] as [(String, Value)]
    )
    func `a wrong type is told with the right one`(key: String, value: Value) throws {
        let error = try #require(refusal([key: value]))
        #expect(error.code == .invalidOption)
        #expect(error.message.hasPrefix("\(key) must be of type "))
        #expect(error.message.hasSuffix("not \(value.signature)."))
    }

    @Test(
        arguments: [
            ("connections", .uint32(0)), ("connections", .uint32(17)),
            ("referrer", .string("a\r\nX-Evil: 1")), ("user-agent", .string("a\nb")),
            ("cookies", .string("a=b\r\nX-Evil: 1")),
            ("cookies", .string(String(repeating: "a", count: 32_769))),
            ("user-agent", .string(String(repeating: "a", count: 8193))),
            ("token", .string("")),
            ("on-existing", .string("overwrite")), ("speed-limit", .uint64(1 << 63)),
            ("expected-size", .uint64(.max)),
            ("retry-for", .uint64(1 << 32)), ("when-done", .string("sh -c x")),
        ] as [(String, Value)]
    )
    func `a bad value is refused and its key named`(key: String, value: Value) throws {
        let error = try #require(refusal([key: value]))
        #expect(error.code == .invalidOption)
        #expect(error.message.hasPrefix(key))
    }

    @Test(arguments: [
        "Host", "range", "IF-Range", "If-Match", "Accept-Encoding", "connection", "TE",
        "Transfer-Encoding", "Content-Length", "Upgrade", "Proxy-Authorization", "pRoXy-X",
    ])
    func `headers of the transfer itself are refused`(name: String) throws {
        let error = try #require(refusal(headers([(name, "1")])))
        #expect(error.code == .invalidOption)
        #expect(error.message.hasPrefix("headers: "))
    }

    @Test(arguments: [
        ("", "v"), ("a b", "v"), ("a:", "v"), ("ä", "v"), ("X-A", "a\r\nb"), ("X-A", "a\0b"),
        ("X-A", "\u{85}"), ("X-A", String(repeating: "v", count: 8190)),
    ])
    func `a header that cannot be sent is refused`(name: String, value: String) throws {
        #expect(refusal(headers([(name, value)]))?.code == .invalidOption)
    }

    @Test func `100 mirrors are taken and 101 are not`() {
        let many = (0..<101).map { "https://e.org/\($0)" }
        #expect(refusal(["mirrors": Array(many.prefix(100)).busValue]) == nil)
        #expect(refusal(["mirrors": many.busValue])?.code == .limitExceeded)
        let long = Array(repeating: "https://e.org/".padding(65_536), count: 17)
        #expect(refusal(["mirrors": Array(long.prefix(16)).busValue]) == nil)
        #expect(refusal(["mirrors": long.busValue])?.code == .limitExceeded)
    }

    @Test func `a token of 255 bytes is taken and one of 256 is not`() {
        #expect(refusal(["token": .string(String(repeating: "a", count: 255))]) == nil)
        let error = refusal(["token": .string(String(repeating: "ä", count: 128))])
        #expect(error?.code == .limitExceeded)
    }

    @Test func `64 headers are taken and 65 are not`() {
        let many = (0..<65).map { ("X-\($0)", "v") }
        #expect(refusal(headers(Array(many.prefix(64)))) == nil)
        #expect(refusal(headers(many))?.code == .invalidOption)
        #expect(refusal(headers([("X-A", String(repeating: "v", count: 8189))])) == nil)
    }

    @Test func `no secret stands in a refusal`() {
        let secret = "hunter2"
        let refused: [[String: Value]] = [
            headers([("Host", secret)]),
            headers([("Authorization: \(secret)", "")]),
            headers([("Proxy-\(secret)", "")]),
            headers([("X-A", secret + "\n")]),
            ["referrer": .string("https://e.org/?\(secret)\n")],
            ["user-agent": .string(secret + "\n")],
            ["token": .string(String(repeating: secret, count: 40))],
            ["directory": .array(of: "s", [.string(secret)])],
        ]
        for options in refused {
            let message = refusal(options)?.message ?? secret
            #expect(!message.contains(secret), "\(message)")
        }
    }

    @Test func `a key from outside is shown short and without control characters`() throws {
        let key = "\u{1B}[2J" + String(repeating: "k", count: 1000)
        let error = try #require(refusal([key: .byte(0)]))
        #expect(error.message.utf8.count < 300)
        #expect(!error.message.contains("\u{1B}"))
    }

    @Test func `of several mistakes it is always the same one`() {
        let options: [String: Value] = ["b": .byte(1), "a": .byte(1), "token": .string("")]
        #expect(refusal(options)?.message.contains("\"a\"") == true)
    }
}

extension String {
    /// The text with as many `x` behind it as make it this long, in bytes.
    fileprivate func padding(_ count: Int) -> String {
        self + String(repeating: "x", count: count - utf8.count)
    }
}
