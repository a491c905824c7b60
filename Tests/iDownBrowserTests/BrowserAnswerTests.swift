// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Testing
import iDownBrowser
import iDownBus
import iDownSettings

struct BrowserAnswerTests {
    private func text(_ answer: BrowserAnswer) -> String {
        let bytes = answer.bytes
        #expect(NativeMessage.length(bytes) == bytes.count - 4)
        return String(decoding: bytes.dropFirst(4), as: UTF8.self)
    }

    @Test func `answers have the number of their request`() {
        #expect(text(.done(7)) == #"{"id":7,"ok":true}"#)
        #expect(text(.task(7, "12")) == #"{"id":7,"ok":true,"task":"12"}"#)
        let refusal = BrowserRefusal(7, ManagerError(.disagreed, "a/b"))
        #expect(
            text(.refused(refusal))
                == #"{"error":"Disagreed","id":7,"message":"a/b","ok":false}"#
        )
    }

    @Test(
        arguments: [
            (.noReply, "Unreachable"), (.noServer, "Unreachable"), (.stopping, "Stopping"),
            (.invalidURL, "InvalidURL"), (.accessDenied, "AccessDenied"),
        ] as [(ManagerError.Code, String)]
    )
    func `an error has the last part of its name, or is Unreachable`(
        code: ManagerError.Code,
        name: String
    ) {
        #expect(BrowserRefusal(1, ManagerError(code, "")).error == name)
    }

    @Test func `hello has the rules out of the settings, and the defaults for what is missing`() {
        let rules = BrowserRules([
            (.browserPrivate, .flag(true)), (.browserLeaveHosts, .words(["A.org"])),
            (.browserTypes, .words(["Video/*", ".ISO"])), (.speedLimit, .number(7)),
        ])
        #expect(
            text(.hello(1, rules, running: 2))
                == #"{"id":1,"ok":true,"rules":{"hosts":[],"least-size":1048576,"#
                + #""leave-hosts":["a.org"],"leave-types":[],"on":true,"private":true,"#
                + #""types":["video/*",".iso"]},"running":2}"#
        )
    }

    @Test func `the longest rules fit into a message, and what is longer is refused`() {
        let hosts = Array(repeating: "a.org", count: (12 << 10) / 8)
        #expect(Setting.browserHosts.allows(.words(hosts)))
        #expect(!Setting.browserHosts.allows(.words(hosts + ["a.org"])))
        let all: [Setting] = [
            .browserTypes, .browserLeaveTypes, .browserHosts, .browserLeaveHosts,
        ]
        let rules = BrowserRules(all.map { ($0, .words(hosts)) })
        #expect(text(.hello(1, rules, running: .max)).contains(#""ok":true"#))
        let long = BrowserAnswer.task(1, String(repeating: "1", count: 70_000))
        #expect(text(long).contains("LimitExceeded"))
    }

    @Test func `lengths are in the machine's order`() {
        #expect(NativeMessage.framed([1, 2, 3]) == [3, 0, 0, 0, 1, 2, 3])
        #expect(NativeMessage.length([1, 2, 0, 0]) == 513)
        #expect(NativeMessage.length([0xFF, 0xFF, 0xFF, 0xFF]) == 4_294_967_295)
    }
}
