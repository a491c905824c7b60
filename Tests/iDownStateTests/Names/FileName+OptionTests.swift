// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@Suite struct FileNameOptionTests {
    @Test(arguments: ["a", "a.iso", "-rf", "a b", "Ünï.tar.gz", "👩‍👧.png", "CON", "a:b", "x."])
    func `a name is taken letter by letter`(text: String) throws {
        #expect(try FileName(option: text).text == text)
    }

    @Test(arguments: [
        "", " ", ".", "..", ".hidden", "a/b", "/a", "../a", "a\\b", "a\0b", "a\nb", "a\u{7F}",
        "a\u{85}b", "a\u{202E}b", "a\u{2066}b", "a\u{2028}b",
    ])
    func `a name that is none is refused with a reason`(text: String) {
        let refusal = #expect(throws: NameRefusal.self) { try FileName(option: text) }
        #expect(refusal?.message.hasPrefix("filename ") == true)
    }

    @Test(arguments: [
        (" ", "blanks"), ("a\\b", "\\"), ("a\u{2028}b", "line separators"),
        ("a\u{2029}b", "line separators"), ("a\u{202E}b", "bidi marks"),
        ("a\u{200F}b", "bidi marks"),
    ])
    func `a refusal says what a name must not have`(text: String, reason: String) {
        let refusal = #expect(throws: NameRefusal.self) { try FileName(option: text) }
        #expect(refusal?.message.contains(reason) == true)
    }

    @Test func `a name may be as long as fits with its suffixes`() throws {
        let longest = String(repeating: "a", count: 244)
        #expect(try FileName(option: longest).text == longest)
        #expect(throws: NameRefusal.self) { try FileName(option: longest + "a") }
        #expect(throws: NameRefusal.self) { try FileName(option: longest, limit: 143) }
    }
}
