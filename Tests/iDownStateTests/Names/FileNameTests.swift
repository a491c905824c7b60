// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState

@Suite struct FileNameTests {
    @Test(arguments: [
        ("a.iso", "a", ".iso"),
        ("a.tar.gz", "a", ".tar.gz"),
        ("dump.sql.zst", "dump", ".sql.zst"),
        ("a.gz", "a", ".gz"),
        ("release-1.2", "release-1.2", ""),
        ("release-1.2.gz", "release-1.2", ".gz"),
        ("film.mp4", "film", ".mp4"),
        ("x.7z", "x", ".7z"),
        ("no extension", "no extension", ""),
        ("Mr. Smith", "Mr. Smith", ""),
        ("a.averyverylongtailhere", "a.averyverylongtailhere", ""),
        ("a.b.c", "a.b", ".c"),
    ])
    func `a name has a stem and an extension`(text: String, stem: String, tail: String) throws {
        let name = try #require(FileName(sanitizing: text))
        #expect(name.stem == stem)
        #expect(name.pathExtension == tail)
    }

    @Test func `a number stands before the extension`() throws {
        let name = try #require(FileName(sanitizing: "a.tar.gz"))
        #expect(name.numbered(0) == name)
        #expect(name.numbered(1).text == "a (1).tar.gz")
        #expect(name.numbered(1000).text == "a (1000).tar.gz")
    }

    @Test(arguments: [1, 999, 1000, 10_000_000, .max])
    func `a number makes no name too long`(number: Int) throws {
        let name = try #require(FileName(sanitizing: String(repeating: "é", count: 200) + ".iso"))
        let numbered = name.numbered(number)
        #expect(numbered.text.utf8.count <= 250)
        #expect(numbered.text.hasSuffix(" (\(number)).iso"))
    }

    @Test func `up to 999 the stem stays whole`() throws {
        let name = try #require(FileName(sanitizing: String(repeating: "a", count: 300)))
        #expect(name.numbered(999).text == name.text + " (999)")
    }

    @Test(.timeLimit(.minutes(1)), arguments: ["x", "é", "%", "e\u{301}", " ", "."])
    func `a name of 64 KB costs no more than its ends`(part: String) {
        let text = "a" + String(repeating: part, count: 64_000 / part.utf8.count) + "b.tar.gz"
        let clock = ContinuousClock()
        let time = clock.measure {
            for _ in 0..<100 {
                let name = FileName(sanitizing: text)
                #expect(name?.text.hasSuffix(".tar.gz") == true)
                #expect((name?.text.utf8.count ?? .max) <= FileName.room(within: 255))
            }
        }
        // 64,000 characters, looked at one by one, take 100 ms and more in a build for debugging.
        #expect(time < .seconds(3))
    }

    @Test func `Windows gets a name without its special characters`() throws {
        let name = try #require(FileName(sanitizing: "a<b>c:d\"e|f?g*h"))
        #expect(name.withoutSpecialCharacters.text == "a_b_c_d_e_f_g_h")
    }
}
