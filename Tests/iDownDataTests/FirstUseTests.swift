// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownTesting

@testable import iDownData

struct FirstUseTests {
    @Test func `a use is the first one only once, also for another process`() async {
        await withTemporaryFolder { folder in
            #expect(FirstUse(of: "x", folder: folder).begins())
            #expect(!FirstUse(of: "x", folder: folder).begins())
            #expect(FirstUse(of: "y", folder: folder).begins())
        }
    }

    @Test func `where it cannot be recorded it is none`() {
        #expect(!FirstUse(of: "x", folder: "/nonexistent").begins())
    }
}
