// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus

@Suite struct FailureGroupTests {
    @Test(
        arguments: [
            ("Network.DNS", .network), ("Server.FromTheFuture", .server), ("File.NoSpace", .file),
            ("Integrity.SizeMismatch", .integrity), ("Network", .network), ("", nil),
            ("Other.Thing", nil), ("network.DNS", nil),
        ] as [(String, FailureGroup?)]
    )
    func `a code belongs to the group before its dot`(code: String, group: FailureGroup?) {
        #expect(FailureGroup(errorCode: code) == group)
    }
}
