// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBrowser
import iDownBus

struct BrowserRequestTests {
    private func request(_ text: String) throws(BrowserRefusal) -> BrowserRequest {
        try BrowserRequest(Array(text.utf8))
    }

    private func refusal(_ text: String) -> BrowserRefusal? {
        do throws(BrowserRefusal) {
            _ = try request(text)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: [
            (#""do":"hello""#, .hello), (#""do":"open""#, .open),
            (#""do":"confirm","token":"t""#, .confirm(token: "t")),
            (#""do":"withdraw","token":"t""#, .withdraw(token: "t")),
            (#""do":"leave","host":"A.org""#, .leave(host: "a.org")),
            (#""do":"take","host":"A.org""#, .take(host: "a.org")),
            (#""do":"switch","on":false"#, .turn(isOn: false)),
        ] as [(String, BrowserRequest.Action)]
    )
    func `an action is read with its keys`(keys: String, action: BrowserRequest.Action) throws {
        let request = try request(#"{"version":1,"id":7,\#(keys)}"#)
        #expect(request.id == 7 && request.action == action)
    }

    @Test func `a hand-over has what the browser knows, and what is empty is left out`() throws {
        let full = try request(
            #"""
            {"version":1,"id":1,"do":"hand-over","url":"http://a/b","token":"t","status":200,
            "size":5,"etag":"\"v\"","last-modified":"then","mime":"a/b","name":"n","referrer":"r",
            "user-agent":"u","accept-language":"de","cookies":"c=d","proxy":"p:1","private":true}
            """#
        )
        var options = HandOverOptions(token: "t")
        options.status = 200
        options.size = 5
        options.entityTag = "\"v\""
        options.lastModified = "then"
        options.mimeType = "a/b"
        options.suggestedName = "n"
        options.proxy = "p:1"
        options.isPrivate = true
        options.download.referrer = "r"
        options.download.userAgent = "u"
        options.download.cookies = "c=d"
        options.download.headers = [.init(name: "Accept-Language", value: "de")]
        #expect(full.action == .handOver(url: "http://a/b", options))
        let empty = try request(
            #"""
            {"version":1,"id":1,"do":"hand-over","url":"u","token":"t","size":-1,"etag":"",
            "name":"","referrer":"","cookies":"","accept-language":"","private":false}
            """#
        )
        #expect(empty.action == .handOver(url: "u", HandOverOptions(token: "t")))
    }

    @Test(
        arguments: [
            (#"{"version":1,"id":7,"do":"hello","foo":1}"#, "InvalidOption", "“foo”"),
            (#"{"version":1,"id":7,"do":"hello","token":"x"}"#, "InvalidOption", "“token”"),
            (#"{"version":1,"id":7,"do":"sing"}"#, "InvalidOption", "“sing”"),
            (#"{"version":1,"id":7}"#, "InvalidOption", "“do”"),
            (#"{"version":1,"id":7,"do":"confirm"}"#, "InvalidOption", "“token”"),
            (#"{"version":1,"id":7,"do":"confirm","token":1}"#, "InvalidOption", "“token”"),
            (#"{"version":1,"id":7,"do":"switch","on":1}"#, "InvalidOption", "“on”"),
            (#"{"version":1,"id":7,"do":"leave","host":"a b"}"#, "InvalidOption", "“host”"),
            (#"{"version":1,"id":7,"do":"take","host":""}"#, "InvalidOption", "“host”"),
            (
                #"{"version":1,"id":7,"do":"hand-over","url":"u","token":"t","status":-1}"#,
                "InvalidOption", "“status”"
            ),
            (
                #"{"version":1,"id":7,"do":"hand-over","url":"u","token":"t","cookies":{"a":1}}"#,
                "InvalidOption", "“cookies”"
            ),
            (#"{"version":2,"id":7,"do":"hello"}"#, "Version", "version 1"),
            (#"{"id":7,"do":"hello"}"#, "Version", "version 1"),
        ]
    )
    func `what is wrong is refused by its name`(text: String, error: String, said: String) throws {
        let refusal = try #require(self.refusal(text))
        #expect(refusal.id == 7 && refusal.error == error)
        #expect(refusal.message.contains(said), "\(refusal.message)")
    }

    @Test(arguments: ["", "[]", "7", "{", #"{"id":"x"}"#, #"{"version":1,"do":"hello"}"#, "\u{0}"])
    func `what has no number is refused without one`(text: String) throws {
        let refusal = try #require(self.refusal(text))
        #expect(refusal.id == nil && refusal.error == "InvalidOption")
    }

    @Test func `no value of a message is in an error`() throws {
        let secrets = refusal(
            #"{"version":1,"id":7,"do":"hand-over","url":"u","token":"t","cookies":["geheim"]}"#
        )
        #expect(try !#require(secrets).message.contains("geheim"))
    }

    @Test func `deep and long messages do no harm`() {
        let deep = String(repeating: "[", count: 60_000)
        #expect(refusal(deep)?.error == "InvalidOption")
        #expect(refusal(#"{"version":1,"id":7,"do":"hello","x":\#(deep)"#) != nil)
        let number = String(repeating: "9", count: 60_000)
        #expect(refusal(#"{"version":1,"id":\#(number)}"#) != nil)
    }
}
