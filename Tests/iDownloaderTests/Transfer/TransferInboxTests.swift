// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownloader

@Suite struct TransferInboxTests {
    @Test func `one checkpoint waits at a time, however long the one before it takes`() async {
        let inbox = TransferInbox()
        for _ in 0..<100 { inbox.wantCheckpoint() }
        inbox.count(Int(TransferInbox.checkpointBytes))
        inbox.beginCheckpoint()
        // What has come before is in this one.
        inbox.count(Int(TransferInbox.checkpointBytes) - 1)
        inbox.send(.planIsDue)
        inbox.count(1)
        inbox.send(.planIsDue)
        var kinds: [String] = []
        for await notice in inbox.notices {
            kinds.append("\(notice)")
            if kinds.count == 4 { break }
        }
        #expect(kinds == ["checkpointIsDue", "planIsDue", "checkpointIsDue", "planIsDue"])
    }
}
