// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownView

struct LinkTextTests {
    @Test
    func `links stand in lines or between blanks, and count once`() {
        let text = LinkText("https://a.org/1 ftp://b.org/2\n# a comment\nhttps://a.org/1\n\n")
        #expect(text.links == ["https://a.org/1", "ftp://b.org/2"])
        #expect(text.mistakes.isEmpty)
    }

    @Test
    func `a host without scheme becomes a link of https`() {
        #expect(LinkText("example.org/x.iso").links == ["https://example.org/x.iso"])
    }

    @Test
    func `a word that is no link is told with its line, without what may be a password`() {
        let text = LinkText("https://a.org/1\nmagnet:?xt=1\nme:secret@nowhere")
        #expect(text.mistakes.map(\.line) == [2, 3])
        #expect(!text.mistakes.contains { $0.word.contains("secret") })
    }

    @Test
    func `metalinks of this machine are told apart, and other files are no links`() {
        let text = LinkText("file:///tmp/a%20list.meta4 file:///etc/passwd")
        #expect(text.metalinks == ["/tmp/a list.meta4"])
        #expect(text.links.isEmpty && text.mistakes.count == 1)
    }

    @Test
    func `a line that begins with a slash is one path`() {
        let text = LinkText("/tmp/my list.META4\n/tmp/my links.txt\nfile:///tmp/a%20b")
        #expect(text.metalinks == ["/tmp/my list.META4"])
        #expect(text.files == [2: "/tmp/my links.txt", 3: "/tmp/a b"])
        #expect(text.mistakes.map(\.line) == [2, 3])
    }

    @Test
    func `indented lines below a link are its options, as in a list, and the others fill in`() {
        let text = LinkText(
            """
            https://a.org/1
              out=sub/b.bin
              dir=/srv
              mirror=https://b.org/1
            \thttps://a.org/2?x=1
            https://a.org/3
            """
        )
        #expect(text.links == ["https://a.org/1", "https://a.org/2?x=1", "https://a.org/3"])
        #expect(text.mistakes.isEmpty && text.hasOptions)
        var others = AddOptions()
        (others.directory, others.filename, others.speedLimit) = ("/home", "c.bin", 5)
        let first = text.options(ofLink: 0, with: others)
        #expect(first.directory == "/srv/sub" && first.filename == "b.bin")
        #expect(first.mirrors == ["https://b.org/1"] && first.speedLimit == 5)
        #expect(text.options(ofLink: 2, with: others) == others)
        #expect(!LinkText("https://a.org/1").hasOptions)
    }

    @Test(arguments: [
        ("  priority=high", "priority must be a whole number"),
        ("\tdir=here", "dir must be a whole path"),
        ("  token=secret\n  pause=secret", "pause must be true or false"),
    ])
    func `an option that cannot be read is told by its line and name, and why`(
        option: String,
        reason: String
    ) {
        let text = LinkText("# a comment\nhttps://a.org/1\n\(option)")
        let lines = option.split(separator: "\n")
        #expect(text.mistakes.map(\.line) == [2 + lines.count])
        #expect(text.mistakes.allSatisfy { $0.word.hasSuffix("=") })
        #expect(text.mistakes.map(\.text) == ["Line \(2 + lines.count): \(reason)"])
    }

    @Test
    func `of a sentence the links are taken`() {
        let sentence =
            "Hello,\nsee (https://a.org/1), or Node.js at\n<https://b.org/x_(2)>. Many thanks!"
        let text = LinkText(sentence, leavingWords: true)
        #expect(text.links == ["https://a.org/1", "https://b.org/x_(2)"])
        #expect(text.mistakes.isEmpty && text.lines == [2, 3])
        #expect(!LinkText(sentence).mistakes.isEmpty)
        // Without a link each word is told; so is one that may be meant as a link.
        #expect(LinkText("no link", leavingWords: true).mistakes.count == 2)
        let wrong = LinkText("https://a.org/1 and htps://b.org/2\nfile:x", leavingWords: true)
        #expect(wrong.mistakes.map(\.word) == ["htps://b.org/2", "file:x"])
    }

    @Test
    func `the line of each link is known`() {
        let text = LinkText("# a comment\nhttps://a.org/1 https://a.org/2\n\nhttps://a.org/3")
        #expect(text.lines == [2, 2, 4])
        #expect(text.count == 3)
    }
}
