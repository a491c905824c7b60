// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownloader

@Suite struct FileNameSanitizingTests {
    @Test(arguments: [
        ("plain.txt", "plain.txt"),
        ("Ein schönes Bild.jpeg", "Ein schönes Bild.jpeg"),
        ("日本語.pdf", "日本語.pdf"),
        ("a/b", "a_b"),
        ("..\\..\\evil", "_.._evil"),
        (".bashrc", "bashrc"),
        ("-rf", "rf"),
        (" - . -x", "x"),
        ("name. . ", "name"),
        ("a\tb\nc\u{7F}d\u{85}e\0f", "a_b_c_d_e_f"),
        ("a\u{2028}b\u{2029}c", "a_b_c"),
        ("photo\u{202E}gpj.exe", "photogpj.exe"),
        ("a\u{200B}b\u{FEFF}c\u{AD}d\u{2066}e\u{E0041}f", "abcdef"),
        ("a\u{3164}b\u{FE0F}c", "abc"),
        ("a\u{A0}b\u{3000}c", "a b c"),
        ("\u{A0}x\u{2003}", "x"),
        ("e\u{301}.txt", "\u{E9}.txt"),
        ("e\u{200D}\u{301}.txt", "\u{E9}.txt"),
        (".\u{301}x", "\u{301}x"),
        ("~/x", "~_x"),
        ("C:evil", "C:evil"),
        ("a\u{FFFD}b\u{FFFE}c", "a_bc"),
        ("CON", "_CON"),
        ("con.txt", "_con.txt"),
        ("Nul .tar.gz", "_Nul .tar.gz"),
        ("com1", "_com1"),
        ("LPT\u{B9}.x", "_LPT\u{B9}.x"),
        ("CONIN$", "_CONIN$"),
        ("com0", "com0"),
        ("console", "console"),
        ("com10.txt", "com10.txt"),
    ])
    func `a name becomes safe`(text: String, expected: String) {
        let name = FileName(sanitizing: text)?.text
        // Scalars: Swift's strings are equal by canonical equivalence, files are not.
        #expect(name.map { Array($0.unicodeScalars) } == Array(expected.unicodeScalars))
    }

    @Test(arguments: ["", ".", "..", "...", " ", "- -", "\u{200B}", ".\u{202E}.", "\u{A0}"])
    func `what has nothing left is no name`(text: String) {
        #expect(FileName(sanitizing: text) == nil)
    }

    @Test func `a long name keeps its extension and leaves room for suffixes`() {
        let long = String(repeating: "ä", count: 300)
        for (tail, kept) in [(".iso", ".iso"), (".tar.gz", ".tar.gz"), ("", ""), (".1", "")] {
            let name = FileName(sanitizing: long + tail)
            #expect((240...244).contains(name?.text.utf8.count ?? 0))
            #expect(name?.pathExtension == kept)
            #expect(name?.text.unicodeScalars.dropLast(kept.count).allSatisfy { $0 == "ä" } == true)
        }
    }

    @Test func `a cut never splits a character`() {
        let flag = "🇩🇪"
        let name = FileName(sanitizing: String(repeating: flag, count: 100))
        #expect(name?.text == String(repeating: flag, count: 244 / flag.utf8.count))
    }

    @Test func `a letter under hundreds of accents still gives a name`() {
        let name = FileName(sanitizing: "x" + String(repeating: "\u{20D7}", count: 500) + ".zip")
        #expect((200...244).contains(name?.text.utf8.count ?? 0))
        #expect(name?.pathExtension == ".zip")
    }

    @Test func `a cut makes no trailing blank and no device`() {
        let spaced = FileName(sanitizing: "con" + String(repeating: " ", count: 400) + "x")
        #expect(spaced?.text == "_con")
    }

    @Test func `a small limit of the file system is kept`() {
        let name = FileName(sanitizing: String(repeating: "a", count: 400) + ".zip", limit: 143)
        #expect(name?.text.utf8.count == 132)
        #expect(FileName(sanitizing: "a.zip", limit: -5)?.text == "a.zip")
    }

    @Test func `whatever comes, the name is one safe element`() {
        var hostile = HostileBytes(seed: 42)
        for _ in 0..<2000 {
            let bytes = hostile.bytes("./\\-~ %:*?\"\u{202E}é.tar.gzCON", longest: 400)
            guard let name = FileName(sanitizing: String(decoding: bytes, as: UTF8.self)) else {
                continue
            }
            #expect(isSafe(name.text), "\(bytes)")
            #expect(FileName(sanitizing: name.text) == name, "not stable: \(bytes)")
        }
    }

    private func isSafe(_ name: String) -> Bool {
        let scalars = name.unicodeScalars
        guard let first = scalars.first, let last = scalars.last else { return false }
        return ![".", "-", " "].contains(first) && ![".", " "].contains(last)
            && name.utf8.count <= 244
            && scalars.allSatisfy {
                $0.value >= 0x20 && $0 != "/" && $0 != "\\" && $0.value != 0x7F
                    && !$0.properties.isBidiControl
            }
    }
}
