// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownView

struct ListRefusalTests {
    private static let otherLanguage = Wording(
        text: { "<\($0)>" },
        plural: { "<\($2 == 1 ? $0 : $1)>" }
    )

    private func text(of list: String) -> String? {
        do throws(ListRefusal) {
            _ = try DownloadList.whole(list)
            return nil
        } catch {
            return error.text(of: "/tmp/bad.txt")
        }
    }

    @Test(arguments: [
        (
            "https://a.org/1\n\n  priority=secret\nhttps://a.org/2\n  pause=secret",
            "bad.txt, line 3: priority must be a whole number",
            "<bad.txt, line 3 cannot be read>"
        ),
        (
            #"[{"URL":"https://a.org/1"},{"URL":"https://a.org/2","Priority":"secret"}]"#,
            "bad.txt, download 2: Priority has a value of the wrong kind",
            "<bad.txt, download 2 cannot be read>"
        ),
        (
            "{}",
            "bad.txt, line 1: the list looks like JSON but is not an array of downloads",
            "<bad.txt, line 1 cannot be read>"
        ),
        ("# a comment\n\n", "bad.txt has no link", "<bad.txt has no link>"),
    ])
    func `a list that is not taken whole is told by its first mistake`(
        list: String,
        told: String,
        elsewhere: String
    ) {
        #expect(text(of: list) == told)
        let other = Wording.$current.withValue(Self.otherLanguage) { text(of: list) }
        #expect(other == elsewhere)
    }

    @Test
    func `a list without mistakes is taken in either form`() throws {
        let text = try DownloadList.whole("# a\nhttps://a.org/1\n out=x")
        #expect(text == "https://a.org/1\n  out=x")
        #expect(try DownloadList.whole(#"[{"URL":"https://a.org/1"}]"#) == "https://a.org/1")
    }

    @Test
    func `a long file is told with what a list may have`() {
        let text = ListRefusal.tooLong(1 << 20).text(of: "/tmp/links\u{1B}.txt")
        #expect(text == "links\u{FFFD}.txt is longer than 1.0 MiB")
    }
}
