// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownView

struct DownloadListTests {
    @Test func `a plain list has one URL per line`() throws {
        let list = try DownloadList("http://a/\r\n\n# no\nhttp://b/ \n")
        #expect(list.entries.map(\.url) == ["http://a/", "http://b/"])
        #expect(list.entries.map(\.line) == [1, 4])
        #expect(list.batches().map { $0.downloads.map(\.url) } == [["http://a/", "http://b/"]])
    }

    @Test func `options belong to the URL above them, and tabs separate mirrors`() throws {
        let list = try DownloadList(
            """
            http://a/x\thttp://b/x\thttp://c/x
              out=name
              dir=/folder
            \theader=Name: value
              header=Other:value
              user-agent=me
              referer=*
              max-connection-per-server=12
              split=4
              gid=2089b05ecca3d829
            http://d/
            """
        )
        let first = try #require(list.entries.first)
        #expect(first.options.mirrors == ["http://b/x", "http://c/x"])
        #expect(first.options.filename == "name")
        #expect(first.options.directory == "/folder")
        #expect(first.options.headers.map(\.value) == ["value", "value"])
        #expect(first.options.userAgent == "me")
        #expect(first.options.referrer == "http://a/x")
        #expect(first.options.connections == 4)
        #expect(list.ignored == ["gid": 10])
        #expect(list.entries.last?.options == AddOptions())
    }

    @Test func `a list that is written again has the same downloads`() throws {
        let list = try DownloadList(
            """
            http://a/x\thttp://b/x
              out=sub/name
              dir=/folder
              header=Name: value
              header=Other:value
              user-agent=me
              referer=*
              split=4
              checksum=md5=00
              pause=false
              priority=-3
              retry-for=forever
              max-download-limit=2M
              expected-size=12
              when-done=reveal
              on-existing=fail
              token=t
            http://c/
              mirror=http://d/
              out=./ blank
            http://e/
            """
        )
        let again = try DownloadList(list.text)
        #expect(again.entries.map(\.url) == list.entries.map(\.url))
        #expect(again.entries.map(\.options) == list.entries.map(\.options))
        #expect(again.entries.map(\.subfolder) == ["sub", nil, nil])
        #expect(list.entries[1].options.mirrors == ["http://d/"])
        #expect(list.entries[1].options.filename == " blank")
    }

    @Test func `a link has no more mirrors than the service takes`() throws {
        let lines = Array(repeating: "  mirror=http://b/", count: Contract.maximumMirrors)
        _ = try DownloadList((["http://a/"] + lines).joined(separator: "\n"))
        #expect(throws: DownloadList.Mistake.self) {
            try DownloadList((["http://a/\thttp://b/"] + lines).joined(separator: "\n"))
        }
    }

    @Test(arguments: ["out=sub/x\n dir=/d", "dir=/d\n out=sub/x"])
    func `a folder before the name is kept separate, in any order of the options`(options: String)
        throws
    {
        let entry = try #require(try DownloadList("http://a/\n \(options)").entries.first)
        #expect(entry.subfolder == "sub" && entry.options.directory == "/d")
        #expect(entry.options.filename == "x")
    }

    @Test(arguments: ["out=/sub/x", "out=.//sub/./x", "out=sub/x"])
    func `folders before the name are below the list's folder`(option: String) throws {
        var entry = try #require(try DownloadList("http://a/\n \(option)\n dir=/d").entries.first)
        entry.complete(from: AddOptions()) { $0 }
        #expect(entry.options.directory == "/d/sub" && entry.options.filename == "x")
    }

    @Test func `an entry holds the pause option of the list, and nil without one`() throws {
        let list = try DownloadList("http://a/\n pause=false\nhttp://b/\n pause=true\nhttp://c/")
        #expect(list.entries.map(\.options.paused) == [false, true, nil])
    }

    @Test(arguments: [
        "http://a/\n dir=", "  out=x", "http://a/\n out", "http://a/\n pause=1",
        "http://a/\n split=0",
        "http://a/\n expected-size=big", "http://a/\n when-done=run",
        "http://a/\n on-existing=overwrite", "http://a/\n out=../x", "http://a/\n out=/a/../x",
        "http://a/\n header=x", "http://a/\n max-download-limit=fast", "http://a/\n priority=high",
        // Ignoring these lines would lose a download.
        "http://a/\n https://x/?a=1", "http://a/\n https://x/", "http://a/\n Out=x",
    ])
    func `a line that cannot be read is an error`(text: String) {
        #expect(throws: DownloadList.Mistake.self) { try DownloadList(text) }
    }

    @Test func `entries share a call, unless neighbours have the same token or one is alone`()
        throws
    {
        let list = try DownloadList(
            """
            http://a/
              pause=true
            http://b/
              out=b
              token=1
            http://c/
              out=b
              token=1
            http://d/
              token=2
            http://e/
              checksum=md5=0
            http://f/
            """
        )
        func urls(_ batches: [DownloadList.Batch]) -> [String] {
            batches.map { $0.downloads.map { String($0.url.dropFirst(7).prefix(1)) }.joined() }
        }
        #expect(urls(list.batches()) == ["ab", "cdef"])
        #expect(urls(list.batches { $0.checksum != nil }) == ["ab", "cd", "e", "f"])
    }

    @Test func `a call has fewer entries where their options differ`() throws {
        let plain = (1...5_000).map { "http://\($0)/\n" }.joined()
        let named = (1...5_001).map { "http://\($0)/\n out=\($0)\n" }.joined()
        let batches = try DownloadList(plain + plain + named).batches()
        #expect(batches.map(\.lines.count) == [10_000, 5_000, 1])
        #expect(batches.map(\.hasCommonOptions) == [true, false, true])
    }

    @Test func `parts contain every URL once, with its line and its options`() throws {
        let list = try DownloadList(
            "# five\n" + (1...5).map { "http://\($0)/\n split=\($0)\n" }.joined()
        )
        let batch = try #require(list.batches().first)
        let parts = [(0, 2), (2, 1), (3, 9)].map { batch.part(from: $0, atMost: $1) }
        #expect(parts.flatMap(\.downloads) == batch.downloads)
        #expect(parts.map(\.lines) == [[2, 4], [6], [8, 10]])
    }

    @Test func `an entry takes over every option that it does not give itself`() {
        var given = AddOptions()
        given.directory = "/given"
        given.filename = "a.iso"
        given.paused = true
        given.priority = -2
        given.connections = 3
        given.speedLimit = 1000
        given.headers = [.init(name: "X-Key", value: "1")]
        given.referrer = "https://example.org/"
        given.userAgent = "Agent/1"
        given.cookies = "a=b"
        given.token = "one call"
        given.onExisting = .fail
        given.mirrors = ["https://m.example/7"]
        given.checksum = "md5=00"
        given.expectedSize = 7
        given.retryFor = 60
        given.whenDone = .open
        // An option that is new has to be given here, and to be taken over.
        #expect(given.dictionary.count == Mirror(reflecting: given).children.count)
        var entry = DownloadList.Entry(line: 1, url: "http://a/", options: AddOptions())
        entry.complete(from: given) { $0 }
        given.token = nil
        #expect(entry.options == given)

        var own = AddOptions()
        own.headers = [.init(name: "x-key", value: "2")]
        own.priority = 0
        entry = DownloadList.Entry(line: 1, url: "http://a/", options: own)
        entry.complete(from: given) { $0 }
        #expect(entry.options.headers == own.headers)
        #expect(entry.options.priority == 0)
    }

    @Test func `an exported task is read back with the same values`() throws {
        var task = TaskProperties.running
        task.url = "https://example.org/download?id=7"
        // These characters are invisible, and part of the names.
        task.fileName = " a\u{AD}\u{1F3F4}\u{E0067}\u{E007F}.iso"
        task.directory = "/home/me/\u{200E}b"
        task.state = .paused
        task.priority = -2
        task.speedLimit = 1000
        task.maxConnections = 3
        task.retryFor = 7200
        task.checksum = "md5=00"
        task.referrer = "https://example.org/"
        task.mirrors = ["https://m.example/7", "https://n.example/7"]
        task.userAgent = "Agent/1"
        task.expectedSize = 1 << 40
        task.whenDone = "reveal"
        task.onExisting = "fail"
        let text = try DownloadList.lines(of: [task]).joined(separator: "\n")
        // aria2 has no option for mirrors.
        #expect(text.hasPrefix(([task.url] + task.mirrors).joined(separator: "\t") + "\n"))
        let entry = try #require(try DownloadList(text).entries.first)
        #expect(entry.url == task.url)
        #expect(entry.options.filename == task.fileName)
        #expect(entry.options.directory == task.directory)
        #expect(entry.options.paused == true)
        #expect(entry.options.priority == -2)
        #expect(entry.options.speedLimit == 1000)
        #expect(entry.options.connections == 3)
        #expect(entry.options.retryFor == 7200)
        #expect(entry.options.checksum == "md5=00")
        #expect(entry.options.referrer == "https://example.org/")
        #expect(entry.subfolder == nil)
        #expect(entry.options.mirrors == task.mirrors)
        #expect(entry.options.userAgent == "Agent/1")
        #expect(entry.options.expectedSize == 1 << 40)
        #expect(entry.options.whenDone == .reveal)
        #expect(entry.options.onExisting == .fail)
        let json = try DownloadList(json: try JSONText.of([TaskJSON(task)]))
        #expect(json.entries.map(\.options) == [entry.options])
        #expect(json.unit == "download")
    }

    @Test(arguments: [
        ("{}", "URL is missing"), ("7", "it is not an object with a URL"),
        (#"{"URL": 7}"#, "URL has a value of the wrong kind"),
        (#"{"URL": "http://a/", "Priority": "geheim"}"#, "Priority has a value of the wrong kind"),
        (#"{"URL": "http://a/", "Priority": 3000000000}"#, "one of its values cannot be used"),
        (#"{"URL": "http://a/", "Mirrors": ["geheim", 7]}"#, "Mirrors has a value"),
    ])
    func `a mistake in JSON names the download and the key, and the others are read`(
        item: String,
        reason: String
    ) throws {
        let list = try DownloadList(
            json: #"[{"URL": "http://a/1"}, \#(item), {"URL": "http://a/3"}]"#
        )
        #expect(list.entries.map(\.line) == [1, 3])
        #expect(list.mistakes.map(\.line) == [2])
        let told = list.mistakes.first?.reason ?? ""
        #expect(told.hasPrefix(reason) && !told.contains("geheim"), "\(told)")
    }

    @Test(arguments: ["[", "{}", #"{"URL": "http://a/"}"#, "[{}"])
    func `a text that only looks like JSON is an error`(text: String) {
        #expect(throws: DownloadList.Mistake.self) { try DownloadList(textOrJSON: text) }
    }

    @Test func `an entry with a mistake is left out with its options, and the others are read`()
        throws
    {
        let mirrors = String(repeating: "\thttp://m/", count: Contract.maximumMirrors + 1)
        let list = try DownloadList(
            textOrJSON: """
                  out=x
                  out=y
                http://a/3
                  out=z
                http://a/5
                  pause=maybe
                  out=w
                  priority=high
                # http://a/9
                http://a/10
                http://a/11\(mirrors)
                  priority=high
                http://a/13
                """
        )
        #expect(list.entries.map(\.url) == ["http://a/3", "http://a/10", "http://a/13"])
        #expect(list.entries.map(\.options.filename) == ["z", nil, nil])
        #expect(list.mistakes.map(\.line) == [1, 6, 11])
        #expect(list.mistakes.map(\.entry) == [nil, 5, nil])
    }

    @Test(arguments: ["/a\tb", "/a\nb", "/a\rb", "/a ", "/a\t"])
    func `a folder that no line holds is refused, but shown at a terminal`(
        folder: String
    ) throws {
        var task = TaskProperties()
        task.id = "7"
        task.url = "https://example.org/a"
        task.directory = folder
        let refusal = #expect(throws: DownloadList.Unwritable.self) {
            try DownloadList.lines(of: [task])
        }
        #expect(refusal?.description.contains("dir of download 7") == true)
        #expect(try DownloadList.lines(of: [task], for: .terminal).count == 2)
        let json = try DownloadList(json: try JSONText.of([TaskJSON(task)]))
        #expect(json.entries.first?.options.directory == folder)
        task.directory = "/a"
        task.fileName = "a "
        #expect(throws: DownloadList.Unwritable.self) { try DownloadList.lines(of: [task]) }
    }

    @Test func `a name that is the last part of the URL is not exported`() throws {
        var task = TaskProperties()
        task.url = "https://example.org/a/disk.iso?key=1#part"
        task.fileName = "disk.iso"
        #expect(try DownloadList.lines(of: [task]) == [task.url])
    }
}
