// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing

@Suite struct SignatureTests {
    @Test(arguments: [
        "", "y", "ybnqiuxtdsogh", "v", "as", "a{sv}", "aa{sv}", "(s)", "(tt)", "a(tt)", "a{s(iv)}",
        "aaaas", "((((i))))", String(repeating: "i", count: 255),
        String(repeating: "a", count: 32) + "i",
        String(repeating: "(", count: 32) + "i" + String(repeating: ")", count: 32),
    ])
    func `these are signatures`(_ text: String) throws {
        #expect(try Signature(validating: text).rawValue == text)
    }

    @Test(arguments: [
        "z", "a", "aa", "()", "(", ")", "(i", "i)", "{sv}", "a{", "a{s", "a{sv", "a{s}", "a{svv}",
        "a{vs}", "a{(i)s}", "a{ass}", "r", "e", "é", "i\0", String(repeating: "i", count: 256),
        String(repeating: "a", count: 33) + "i",
        String(repeating: "(", count: 33) + "i" + String(repeating: ")", count: 33),
    ])
    func `these are no signatures`(_ text: String) {
        #expect(throws: BusError.self) { try Signature(validating: text) }
    }

    @Test func `one complete type is told from none and from several`() {
        #expect(Signature("a{sv}").isSingleCompleteType)
        #expect(Signature("(ss)").isSingleCompleteType)
        #expect(!Signature("").isSingleCompleteType)
        #expect(!Signature("ss").isSingleCompleteType)
    }
}
