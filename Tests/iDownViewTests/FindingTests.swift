// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownView

struct FindingTests {
    @Test func `what is wrong comes with what to do`() {
        let finding = Finding("room", .wrong, "none\u{1B}[0m", advice: "make some")
        #expect(
            finding.lines(style: .plain)
                == ["WRONG  room              none\u{FFFD}[0m", "       → make some"]
        )
        #expect(
            Finding("room", .fine, "much").lines(style: .plain) == ["ok     room              much"]
        )
    }
}
