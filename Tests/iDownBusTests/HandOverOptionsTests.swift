// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing

@testable import iDownBus

@Suite struct HandOverOptionsTests {
    private func refusal(_ dictionary: [String: Value]) -> ManagerError? {
        do throws(ManagerError) {
            _ = try HandOverOptions(dictionary)
            return nil
        } catch {
            return error
        }
    }

    @Test func `options survive the wire`() throws {
        var options = HandOverOptions(token: "t")
        #expect(options.dictionary.count == 1)
        #expect(try HandOverOptions(options.dictionary) == options)
        options.download.referrer = "https://a.org/"
        options.download.cookies = "a=b"
        options.status = 200
        options.size = 5
        options.entityTag = "\"v1\""
        options.lastModified = "Sat, 31 Jan 2026 23:59:59 GMT"
        options.mimeType = "application/zip"
        options.suggestedName = "../a"
        options.isPrivate = true
        #expect(options.dictionary.count == 10)
        #expect(try HandOverOptions(options.dictionary) == options)
    }

    @Test func `what a browser does not know is not compared`() throws {
        let options = try HandOverOptions([
            "token": .string("t"), "size": .int64(-1), "etag": .string(""),
            "last-modified": .string(""), "mime": .string(""), "suggested-name": .string(""),
        ])
        #expect(options == HandOverOptions(token: "t"))
    }

    @Test(
        arguments: [
            ("directory", .string("/")), ("filename", .string("a")), ("paused", .boolean(false)),
            ("when-done", .string("open")), ("size", .uint64(1)), ("status", .int32(200)),
            ("private", .string("")), ("token", .string("")), ("unknown", .string("")),
        ] as [(String, Value)]
    )
    func `a key that is not for a hand-over is refused by name`(key: String, value: Value) throws {
        let error = try #require(refusal(["token": .string("t")].merging([key: value]) { $1 }))
        #expect(error.code == .invalidOption)
        #expect(error.message.contains(key))
    }

    @Test func `an unknown key is answered with those of a hand-over`() throws {
        let message = try #require(refusal(["bogus": .string("")])).message
        #expect(message.contains("suggested-name") && message.contains("referrer"))
        #expect(!message.contains("directory"))
    }

    @Test(arguments: ["etag", "last-modified", "mime", "proxy"])
    func `a header longer than servers accept is refused`(key: String) throws {
        let values = (8192...8193).map { Value.string(String(repeating: "a", count: $0)) }
        #expect(refusal(["token": .string("t"), key: values[0]]) == nil)
        let error = try #require(refusal(["token": .string("t"), key: values[1]]))
        #expect(error.code == .invalidOption)
        #expect(error.message.hasPrefix("\(key) must have at most 8192 bytes"))
    }

    @Test func `of a long name only the beginning is taken`() throws {
        let name = Value.string(String(repeating: "ü", count: 1 << 20))
        let options = try HandOverOptions(["token": .string("t"), "suggested-name": name])
        #expect(options.suggestedName == String(repeating: "ü", count: 4096))
    }

    @Test func `the token is required`() throws {
        #expect(try #require(refusal([:])).message.hasPrefix("token"))
    }
}
