// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Curl

@Suite struct RemoteFileTests {
    private func replies(_ lines: String...) -> ControlReplies {
        var replies = ControlReplies()
        for line in lines {
            let isWithin = Array("\(line)\r\n".utf8).withUnsafeBytes { replies.read($0) }
            #expect(isWithin)
        }
        return replies
    }

    @Test func `the size is what SIZE was answered, and never the time`() {
        let both = replies("220 hi", "213 20261121174250", "200 ok", "213 700000", "150 comes")
        #expect(both.size(knowsTime: true) == 700_000)
        let fraction = replies("213 20261121174250.123", "213 700000")
        #expect(fraction.size(knowsTime: true) == 700_000)
        #expect(replies("213 20261121174250", "500 no").size(knowsTime: true) == nil)
        #expect(replies("500 no", "213 7").size(knowsTime: false) == 7)
        #expect(replies("213 -7", "213 x", "213").size(knowsTime: false) == nil)
        #expect(replies("213-7", "2130 7").size(knowsTime: false) == nil)
    }

    @Test func `replies have a limit`() {
        var replies = ControlReplies()
        let line = [UInt8](repeating: 0x32, count: 1024)
        let count = (0..<301).count { _ in line.withUnsafeBytes { replies.read($0) } }
        #expect(count == 300)
    }
}
