// SPDX-License-Identifier: Apache-2.0

import Curl
import Glibc
import Testing
import iDownBus
import iDownState
import iDownTesting
import iDownloader

@testable import iDownService

@Suite struct OptionCheckerTests {
    private func judge(
        _ urls: [String],
        rules: FolderRules = FolderRules(),
        owner: String? = nil,
        options change: (inout AddOptions) -> Void = { _ in }
    ) async throws -> [NewTask] {
        try await withTemporaryFolder { folder in
            let pool = try TransferPool()
            let checker = OptionChecker(
                engine: Engine(drivers: TransferDrivers(pool), userAgent: "test"),
                downloadDirectory: folder + "/new",
                rules: rules,
                owner: owner
            )
            var options = AddOptions()
            change(&options)
            let result: Result<[NewTask], any Error>
            do {
                result = .success(try await checker.judge(urls, options, isList: true))
            } catch {
                result = .failure(error)
            }
            await pool.shutDown()
            return try result.get()
        }
    }

    private func refusal(
        of urls: [String],
        rules: FolderRules = FolderRules(),
        owner: String? = nil,
        options change: (inout AddOptions) -> Void = { _ in }
    ) async -> ManagerError? {
        do {
            _ = try await judge(urls, rules: rules, owner: owner, options: change)
            return nil
        } catch {
            return ManagerError(error)
        }
    }

    @Test func `an application chooses nothing in a folder that it could not choose`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let pool = try TransferPool()
            var rules = FolderRules()
            rules.enclosingFolder = folder + "/downloads"
            for name in ["downloads", "private"] { #expect(mkdir(folder + "/" + name, 0o755) == 0) }
            var options = EditOptions()
            options.values.filename = "a.sh"
            for (owner, name) in [
                ("a", "private"), ("a", "downloads"), ("a", "moving"), (nil, "private"),
            ] {
                let checker = OptionChecker(
                    engine: Engine(drivers: TransferDrivers(pool), userAgent: "test"),
                    downloadDirectory: folder + "/downloads",
                    rules: owner == nil ? FolderRules() : rules,
                    owner: owner
                )
                let isMoving = name == "moving"
                let record = TaskRecord.sample { record in
                    record.request.directory = folder + "/" + (isMoving ? "downloads" : name)
                    if isMoving {
                        let place = Move.Place(directory: folder + "/private", name: "a")
                        record.move = .to(place, made: nil)
                    }
                }
                let isRefused = owner != nil && name != "downloads"
                do {
                    _ = try await checker.judge(options, for: record)
                    #expect(!isRefused)
                } catch {
                    #expect(
                        isRefused && ManagerError(error).code == .invalidDestination,
                        "\(error)"
                    )
                }
            }
            await pool.shutDown()
        }
    }

    @Test func `an empty referrer is none`() async throws {
        let tasks = try await judge(["https://e.org/"]) { $0.referrer = "" }
        #expect(tasks.first?.request.referrer == .some(nil))
    }

    @Test func `every option finds its place`() async throws {
        let tasks = try await judge(["HTTP://Example.ORG/a b#part"]) { options in
            options.filename = "c.iso"
            options.paused = true
            options.priority = -3
            options.connections = 4
            options.headers = [.init(name: "X-Key", value: "v")]
            options.referrer = "https://e.org/"
            options.userAgent = "me"
            options.onExisting = .fail
            options.speedLimit = 1000
            options.mirrors = ["HTTP://Mirror.org/a b", "https://other.org/"]
            options.checksum = "MD5=" + String(repeating: "Ab", count: 16)
            options.expectedSize = 7
            options.whenDone = .open
            options.retryFor = 0
        }
        let task = try #require(tasks.first)
        #expect(tasks.count == 1)
        #expect(task.request.url == "http://example.org/a%20b")
        #expect(task.request.directory.hasSuffix("/new"))
        #expect(task.request.fileName == "c.iso")
        #expect(task.isPaused)
        #expect(task.priority == -3)
        #expect(task.request.connections == 4)
        #expect(task.request.headers == [.init(name: "X-Key", value: "v")])
        #expect(task.request.referrer == "https://e.org/")
        #expect(task.request.userAgent == "me")
        #expect(task.request.onExisting == .fail)
        #expect(task.speedLimit == 1000)
        #expect(task.request.mirrors == ["http://mirror.org/a%20b", "https://other.org/"])
        #expect(task.request.checksum == Checksum(.md5, Array(repeating: 0xab, count: 16)))
        #expect(task.request.expectedSize == 7)
        #expect(task.request.whenDone == .open)
        #expect(task.request.retryFor == 0)
        #expect(task.request.usesStoredLogins)
        #expect(task.takenName == nil)
    }

    @Test(arguments: [
        "scp://e.org/a", "file:///etc/passwd", "javascript:alert(1)", "idown:?url=http://e.org/",
    ])
    func `another scheme is UnsupportedScheme`(_ url: String) async {
        #expect(await refusal(of: [url])?.code == .unsupportedScheme)
    }

    @Test func `what may be a user's name is no scheme that is shown`() async {
        let error = await refusal(of: ["SECRET:x@e.org/f"])
        #expect(error?.code == .unsupportedScheme)
        #expect(error?.message.lowercased().contains("secret") == false)
    }

    @Test(arguments: [
        "http://e.org/" + String(repeating: "a", count: 70_000),
        "http://e.org/" + String(repeating: "é", count: 20_000),
        String(repeating: "a", count: 70_000) + ":x",
    ])
    func `a URL that is too long is LimitExceeded, shortly`(url: String) async {
        let error = await refusal(of: [url])
        #expect(error?.code == .limitExceeded)
        #expect((error?.message.utf8.count ?? 0) < 1000)
    }

    @Test(arguments: [
        "", " ", "e.org/a", "http://", "http:/e.org", "http:///e.org", "http://e.org:x/",
        "http://e\\org/", "http://e.org/\u{0}", "//e.org/", "\u{301}", "http://\u{202e}",
    ])
    func `what is no URL is InvalidURL, shortly`(_ url: String) async {
        let error = await refusal(of: [url])
        #expect(error?.code == .invalidURL, "\(url.prefix(40))")
        #expect((error?.message.utf8.count ?? 0) < 1000)
    }

    @Test(arguments: [
        "http://me:SECRET@e.org:x/", "http://me:pa?SECRET@e.org:x/", "http://me:pa#SECRET@e.org:x/",
        "http://e.org:x/?token=SECRET", "http://e.org:x/#SECRET",
        "http://e.org:x/?\u{301}token=SECRET", "http://me:SECRET@\u{301}e.org:x/",
        "http://e.org:x/a@b?SECRET", "e.org/f?mail=me@x.org&token=SECRET",
        "http:/e.org/?a@b&SECRET", "e.org/#a@b&SECRET", "http://SECRET@a@e.org:x/",
        "http://e.org:x/#\u{301}SECRET",
    ])
    func `a refused URL never shows a secret`(_ url: String) async {
        let error = await refusal(of: [url])
        #expect(error?.code == .invalidURL)
        #expect(error?.message.contains("SECRET") == false, "\(error?.message ?? "")")
    }

    @Test(arguments: ["org.example.App", ":1.7"])
    func `what opens on the user's desktop is not for a sandbox to say`(owner: String) async {
        let error = await refusal(of: ["http://e.org/a"], owner: owner) { $0.whenDone = .reveal }
        #expect(error?.code == .invalidOption)
        #expect(error?.message.contains("when-done") == true)
    }

    @Test func `a bad one of many is named by its place`() async {
        let error = await refusal(of: ["http://e.org/", "http://e.org/2", "http://:x/"])
        #expect(error?.code == .invalidURL)
        #expect(error?.message.contains("URL 3") == true)
    }

    @Test func `no URLs are no tasks`() async throws {
        #expect(try await judge([]).isEmpty)
    }

    @Test func `a folder's path that is too long is refused before anything reads it`() async {
        let long = await refusal(of: ["http://e.org/"]) {
            $0.directory = String(repeating: "/a", count: 100_000)
        }
        #expect(long?.code == .invalidDestination)
        #expect(long?.message.contains("too long") == true)
    }

    @Test func `a folder that is closed is InvalidDestination`() async {
        await withTemporaryFolder { folder in
            let rules = FolderRules(closedFolders: [folder])
            let inside = await refusal(of: ["http://e.org/"], rules: rules) { options in
                options.directory = folder + "/new"
            }
            #expect(inside?.code == .invalidDestination)
            let told = "\(folder)/new: The folder holds"
            #expect(inside?.message.hasPrefix(told) == true, "\(inside as Any)")
        }
        // The client has named none, and learns which it is.
        let own = await refusal(of: ["http://e.org/"], rules: FolderRules(closedFolders: ["/"]))
        #expect(own?.message.contains("/new. The folder holds") == true, "\(own as Any)")
        let relative = await refusal(of: ["http://e.org/"]) { $0.directory = "Downloads" }
        #expect(relative?.code == .invalidDestination)
        #expect(relative?.message.hasPrefix("Downloads: The folder must be") == true)
    }

    @Test func `a name that no file can have is InvalidOption`() async {
        for name in [".hidden", "a/b", "..", "a\u{7}", "", String(repeating: "a", count: 245)] {
            let error = await refusal(of: ["http://e.org/"]) { $0.filename = name }
            #expect(error?.code == .invalidOption, "\(name)")
            #expect(error?.message.hasPrefix("filename must ") == true, "\(name)")
        }
    }

    @Test(arguments: ["", "e.org/a", "javascript:alert(1)", "http://me:SECRET@e.org:x/?SECRET"])
    func `a mirror that cannot be asked is InvalidOption, by its place`(_ url: String) async {
        let error = await refusal(of: ["http://e.org/"]) { $0.mirrors = ["http://f.org/", url] }
        #expect(error?.code == .invalidOption)
        #expect(error?.message.hasPrefix("mirrors: URL 2: ") == true)
        #expect(error?.message.contains("SECRET") == false)
    }

    @Test(arguments: ["", "sha-256", "sha-256=", "sha-256=00", "crc32=00000000", "=00", "md5=zz"])
    func `what is no digest is InvalidOption`(_ text: String) async {
        let error = await refusal(of: ["http://e.org/"]) { $0.checksum = text }
        #expect(error?.code == .invalidOption)
        #expect(error?.message.hasPrefix("checksum must be ") == true)
    }

    @Test(arguments: ["taken", "taken.part"])
    func `with on-existing fail a taken name is noted`(_ existing: String) async throws {
        try await withTemporaryFolder { folder in
            try TestContent([1]).write(toFile: folder + "/" + existing)
            let tasks = try await judge(["http://e.org/"]) { options in
                options.directory = folder
                options.filename = "taken"
                options.onExisting = .fail
            }
            #expect(tasks.first?.takenName == "taken")
            let renamed = try await judge(["http://e.org/"]) { options in
                options.directory = folder
                options.filename = "taken"
            }
            #expect(renamed.first?.takenName == nil)
        }
    }
}
