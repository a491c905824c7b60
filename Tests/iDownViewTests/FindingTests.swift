// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownView

struct FindingTests {
    @Test func `a problem comes with advice`() {
        let finding = Finding("room", .wrong, "none\u{1B}[0m", advice: "make some")
        #expect(
            finding.lines(style: .plain)
                == ["WRONG  room              none\u{FFFD}[0m", "       → make some"]
        )
        #expect(
            Finding("room", .fine, "much").lines(style: .plain) == ["ok     room              much"]
        )
    }

    @Test func `a short answer counts the passed checks and tells the problems`() {
        let findings = [
            Finding("bus", .fine, "there"), Finding("service", .fine, "idownd 1"),
            Finding("unit", .note, "is missing", advice: "make install"),
        ]
        #expect(
            Finding.summary(of: findings, telling: ["service", "room"], style: .plain) == [
                "ok     2 checks          passed: idownd 1", "note   unit              is missing",
                "       → make install",
            ]
        )
        #expect(
            Finding.summary(of: [findings[0]], telling: [], style: .plain)
                == ["ok     1 check           passed"]
        )
        let bad = Finding("bus", .wrong, "is missing", advice: "log in")
        #expect(
            Finding.summary(of: [bad], telling: [], style: .plain)
                == ["WRONG  bus               is missing", "       → log in"]
        )
    }
}
