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
        let below = LinkText("https://a.org/1\n  out=sub/b.bin")
        #expect(below.options(ofLink: 0, with: AddOptions(), below: "/d").directory == "/d/sub")
        #expect(below.options(ofLink: 0, with: others, below: "/d").directory == "/home/sub")
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
    func `a repeated link with another folder or name is a link of its own`() {
        let list = "https://a.org/1\nhttps://b.org/2\nhttps://a.org/1\n  out=x"
        let more = "\nhttps://a.org/1\n  out=y\nhttps://a.org/1\n  dir=/srv\nhttps://b.org/2"
        let text = LinkText(list + more, leavingWords: true)
        let link = "https://a.org/1"
        #expect(text.links == [link, "https://b.org/2", link, link, link])
        #expect(text.lines == [1, 2, 3, 5, 7] && text.mistakes.isEmpty)
        let options = text.links.indices.map { text.options(ofLink: $0, with: AddOptions()) }
        #expect(options.map(\.filename) == [nil, nil, "x", "y", nil])
        #expect(options.map(\.directory) == [nil, nil, nil, nil, "/srv"])
    }

    @Test(arguments: ["", "\n  out=x", "\n  dir=/srv", "\n  out=sub/x"])
    func `the options of a repeated link join those of its download, and the later ones count`(
        first: String
    ) {
        let link = "https://a.org/1"
        let same = first.contains("dir") || first.contains("sub") ? first : ""
        let text = LinkText(
            "\(link)\(first)\n  priority=1\n  split=2\n  header=x: 0\nhttps://b.org/2"
                + "\n\(link)\(same)\n  header=X: 1\n  priority=3\n\(link)\(same)\n  pause=true",
            leavingWords: true
        )
        #expect(text.links == [link, "https://b.org/2"] && text.lines.first == 1)
        #expect(text.count == 2 && text.mistakes.isEmpty)
        var others = AddOptions()
        (others.priority, others.speedLimit) = (7, 5)
        let options = text.options(ofLink: 0, with: others)
        #expect(options.priority == 3 && options.connections == 2 && options.paused == true)
        #expect(options.headers.map(\.value) == ["1"] && options.speedLimit == 5)
        #expect(options.filename == (first.contains("out") ? "x" : nil))
        #expect(text.options(ofLink: 1, with: others) == others)
    }

    @Test(arguments: [
        "/tmp/x.meta4", "/tmp/list.txt", "htps://b.org/2", "see\n\nthere",
        "https://b.org/2 https://c.org/3", "https://b.org/2 /tmp/x.meta4",
        "https://b.org/2 https://c.org/3\thttps://d.org/4",
    ])
    func `options below a line that is not one link are told, and no link has them`(line: String) {
        let options = "\n\n# a comment\n  dir=/srv\n  gid=1\n  header=X: secret"
        for before in ["https://a.org/1\n", "https://a.org/1\n  out=x\n", ""] {
            let text = LinkText(before + line + options, leavingWords: true)
            let told = text.mistakes.map(\.text)
            #expect(told.contains { $0.hasSuffix(": dir must stand below one link") })
            #expect(told.contains { $0.hasSuffix(": header must stand below one link") })
            #expect(!told.contains { $0.contains("secret") } && text.files.isEmpty)
            for place in text.links.indices {
                let given = text.options(ofLink: place, with: AddOptions())
                #expect(given.directory == nil && given.headers.isEmpty)
            }
        }
    }

    @Test
    func `blank lines and comments part no options from their link`() {
        let text = LinkText("https://a.org/1\n \n  # a comment\n  dir=/srv\n\n# b\n\tout=x")
        #expect(text.links == ["https://a.org/1"] && text.mistakes.isEmpty)
        let options = text.options(ofLink: 0, with: AddOptions())
        #expect(options.directory == "/srv" && options.filename == "x")
    }

    @Test
    func `with tabs and options, the links after the first are mirrors, as they are exported`() {
        let row = "https://a.org/1\tb.org/1 \tftp://c.org/1"
        let text = LinkText("\(row)\n  dir=/srv\nhttps://d.org/2", leavingWords: true)
        #expect(text.links == ["https://a.org/1", "https://d.org/2"] && text.mistakes.isEmpty)
        let options = text.options(ofLink: 0, with: AddOptions())
        #expect(options.mirrors == ["https://b.org/1", "ftp://c.org/1"])
        #expect(options.directory == "/srv")
        #expect(text.options(ofLink: 1, with: AddOptions()) == AddOptions())
        #expect(LinkText(row).links.count == 3)
        let many = (0...101).map { "https://a.org/\($0)" }.joined(separator: "\t")
        let mistakes = LinkText("# a comment\n\(many)\n  dir=/srv").mistakes
        #expect(mistakes.map(\.text) == ["Line 2: more than 100 mirrors"])
        #expect(mistakes.map(\.word) == ["mirror="])
    }

    @Test(arguments: [
        "https://a.org/1, https://a.org/2", "https://a.org/1,https://a.org/2;",
        #""https://a.org/1","https://a.org/2""#, "1. https://a.org/1\n2. https://a.org/2",
        "https://a.org/1;\nhttps://a.org/2;", #"["https://a.org/1","https://a.org/2"]"#,
    ])
    func `the marks of a list are no part of its links`(list: String) {
        let text = LinkText(list, leavingWords: true)
        #expect(text.links == ["https://a.org/1", "https://a.org/2"] && text.mistakes.isEmpty)
    }

    @Test(arguments: [
        "https://a.org/Inc.", "https://a.org/a,b;c", "https://a.org/x_(2)",
        "https://a.org/zip?files=https://a.org/1,https://b.org/2",
    ])
    func `a link alone keeps its marks`(link: String) {
        #expect(LinkText(link, leavingWords: true).links == [link])
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
    func `around the links of a sentence, brackets and points are left out`() {
        let sentence =
            "Get https://a.org/f.zip, please (or https://b.org/g.zip / [https://c.org/h[1]]).\n"
            + "- https://d.org/i[1]\n(see https://e.org/j_(2)) Note: all of them\nwww.f.org"
        let text = LinkText(sentence, leavingWords: true)
        #expect(
            text.links == [
                "https://a.org/f.zip", "https://b.org/g.zip", "https://c.org/h[1]",
                "https://d.org/i[1]", "https://e.org/j_(2)", "https://www.f.org",
            ]
        )
        #expect(text.mistakes.isEmpty)
    }

    @Test
    func `of a sentence no word is left out that may be meant as a link`() {
        let sentence =
            "See https://a.org/1 and magnet:?xt=1, and/or (10:30) me@a.org\nor (www.b.org/x), b.org/file.zip."
        let text = LinkText(sentence, leavingWords: true)
        #expect(text.mistakes.map(\.line) == [1])
        #expect(text.mistakes.first?.word.hasPrefix("magnet:") == true)
        #expect(
            text.links == ["https://a.org/1", "https://www.b.org/x", "https://b.org/file.zip"]
        )
        // Alone in its line, a word is more than a word of a sentence.
        let alone = LinkText("https://a.org/1\nme@a.org\na/b", leavingWords: true)
        #expect(alone.mistakes.map(\.line) == [2, 3])
        // The path of a list stands for its line only where it is alone in it.
        let path = LinkText("https://a.org/1\nsee /tmp/list.txt", leavingWords: true)
        #expect(path.mistakes.map(\.word) == ["/tmp/list.txt"] && path.files.isEmpty)
    }

    @Test(arguments: [
        "https://a.org/my file.zip", "https://a.org/my new file.zip",
        "<https://a.org/my new file.zip>", "https://a.org/my dir.d/file.zip",
    ])
    func `a link with a blank is told by the end of its name`(link: String) {
        for leavesWords in [false, true] {
            let text = LinkText(link, leavingWords: leavesWords)
            #expect(text.mistakes.last?.word.contains("file.zip") == true)
            #expect(text.links.allSatisfy { $0.hasSuffix("/my") })
        }
    }

    @Test
    func `the line of each link is known`() {
        let text = LinkText("# a comment\nhttps://a.org/1 https://a.org/2\n\nhttps://a.org/3")
        #expect(text.lines == [2, 2, 4])
        #expect(text.count == 3)
    }
}
