// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Testing
import iDownBus
import iDownTesting

@Suite struct CapabilityTests {
    @Test func `the documented XML lists each word of Capabilities, in order`() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().path
        let document = try TestFile.text(of: sources + "/dbus/org.idown.Manager1.xml")
        let start = try #require(document.firstRange(of: "Words are only added.")).upperBound
        let end = try #require(document[start...].firstRange(of: "-->")).lowerBound
        let words = document[start..<end].split(separator: "\n      - ").dropFirst().map { point in
            String(point.prefix { $0 != ":" })
        }
        #expect(words == Capability.allCases.map { "``\($0.rawValue)``" })
    }
}
