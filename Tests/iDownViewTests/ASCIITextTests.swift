// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import iDownView

@Suite struct ASCIITextTests {
    @Test(arguments: [
        ("", ""), ("a b", "a b"), ("✓ 日本 e\u{301}…", "+ ???? ?."), ("┌─┐│", "+-+|"), ("👨‍👩‍👧", "??"),
    ])
    func `what is not ASCII takes as many cells as before`(text: String, shown: String) {
        #expect(ASCIIText(text).description == shown)
        #expect(ASCIIText(text).description.utf8.allSatisfy { $0 < 0x80 })
    }
}
