// SPDX-License-Identifier: Apache-2.0

import Curl
import Glibc
import Testing
import iDownBus
import iDownState
import iDownTesting
import iDownloader

@testable import iDownService

/// What becomes of what the desktop hands over.
@Suite struct OptionCheckerOpeningTests {
    private static let metalink = """
        <?xml version="1.0" encoding="UTF-8"?>
        <metalink xmlns="urn:ietf:params:xml:ns:metalink">
          <file name="folder/a.iso"><size>7</size><url>https://e.org/1</url></file>
          <file name="b.iso"><url>https://f.org/2</url><url>https://g.org/2</url></file>
        </metalink>
        """

    /// Runs `judge` with the checker of a caller whose folder is `folder/downloads`.
    private func judge(
        in folder: String,
        owner: String? = nil,
        _ judge: (OptionChecker) async throws -> [NewTask]
    ) async throws -> [NewTask] {
        let pool = try TransferPool()
        let checker = OptionChecker(
            engine: Engine(drivers: TransferDrivers(pool), userAgent: "test"),
            downloadDirectory: folder + "/downloads",
            rules: FolderRules(),
            owner: owner
        )
        let result: Result<[NewTask], any Error>
        do {
            result = .success(try await judge(checker))
        } catch {
            result = .failure(error)
        }
        await pool.shutDown()
        return try result.get()
    }

    private func judge(
        _ uris: [String],
        in folder: String,
        owner: String? = nil
    ) async throws -> [NewTask] {
        try await judge(in: folder, owner: owner) { try await $0.judge(opened: uris) }
    }

    private func refusal(
        _ uris: [String],
        in folder: String,
        owner: String? = nil
    ) async -> ManagerError? {
        await refusal { try await judge(uris, in: folder, owner: owner) }
    }

    private func refusal(_ judge: () async throws -> [NewTask]) async -> ManagerError? {
        do {
            let tasks = try await judge()
            Issue.record("accepted: \(tasks.map(\.request.url))")
            return nil
        } catch {
            return ManagerError(error)
        }
    }

    @Test func `a URL may use what is stored, a link and a metalink's files may not`()
        async throws
    {
        try await withTemporaryFolder { folder in
            try TestFile.write(Self.metalink, to: folder + "/list.META4")
            let tasks = try await judge(
                [
                    "http://e.org/a", "idown:?url=http%3A%2F%2Fe.org%2Fb",
                    "file://\(folder)/list.META4",
                ],
                in: folder
            )
            let requests = tasks.map(\.request)
            #expect(
                requests.map(\.url) == [
                    "http://e.org/a", "http://e.org/b", "https://e.org/1", "https://f.org/2",
                ]
            )
            #expect(requests.map(\.usesStoredLogins) == [true, false, false, false])
            #expect(requests.map(\.fileName) == [nil, nil, "a.iso", "b.iso"])
            #expect(requests.map(\.expectedSize) == [nil, nil, 7, nil])
            #expect(requests[3].mirrors == ["https://g.org/2"])
            #expect(requests.allSatisfy { $0.directory == folder + "/downloads" })
        }
    }

    @Test(arguments: [
        ("", ManagerError.Code.invalidURL), ("e.org", .invalidURL), ("/etc/passwd", .invalidURL),
        ("https:/e.org", .invalidURL),
        ("scp://e.org/a", .unsupportedScheme), ("javascript:alert(1)", .unsupportedScheme),
        ("idown:?url=", .invalidURL), ("idown:?url=%20https%3A%2F%2Fe.org", .invalidURL),
        ("idown:?url=https%3Ae.org", .invalidURL),
        ("idown:?url=scp%3A%2F%2Fe.org%2Fa", .unsupportedScheme),
        ("idown:?url=file%3A%2F%2F%2Fetc%2Fpasswd", .unsupportedScheme),
        ("idown:?url=file%3A%2F%2F%2Ftmp%2Fa.meta4", .unsupportedScheme),
        ("idown:?url=javascript%3A1", .unsupportedScheme),
        ("idown:?url=idown%3A%3Furl%3Dhttps%253A%252F%252Fe.org", .unsupportedScheme),
        ("file:///etc/passwd", .invalidURL), ("file:///nowhere/a.meta4", .invalidURL),
    ])
    func `one bad URI refuses all, by its place`(uri: String, code: ManagerError.Code)
        async
    {
        await withTemporaryFolder { folder in
            let error = await refusal(["http://e.org/a", uri], in: folder)
            #expect(error?.code == code)
            #expect(error?.message.hasPrefix("URI 2: ") == true, "\(error?.message ?? "")")
            let alone = await refusal([uri], in: folder)
            #expect(alone?.code == code)
            #expect(alone?.message.hasPrefix("URI") == false)
        }
    }

    @Test func `pipes, devices, folders and what is no metalink are refused at once`()
        async throws
    {
        try await withTemporaryFolder { folder in
            #expect(mkfifo(folder + "/pipe.meta4", 0o600) == 0)
            #expect(symlink("pipe.meta4", folder + "/link.meta4") == 0)
            #expect(symlink("/dev/zero", folder + "/zero.meta4") == 0)
            #expect(symlink("loop.meta4", folder + "/loop.meta4") == 0)
            #expect(mkdir(folder + "/folder.meta4", 0o700) == 0)
            try TestFile.write("SECRET", to: folder + "/text.meta4")
            try TestFile.write("", to: folder + "/empty.metalink")
            #expect(truncate(folder + "/empty.metalink", 1 << 40) == 0)
            for name in TestFile.names(in: folder).filter({ $0.contains(".meta") }) {
                let error = await refusal(["file://\(folder)/\(name)"], in: folder)
                #expect(error?.code == .invalidURL, "\(name)")
                #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
                #expect(error?.message.contains("SECRET") == false)
                let isFile = name.hasPrefix("text") || name.hasPrefix("empty")
                if !isFile, !name.hasPrefix("loop") {
                    #expect(error?.message.hasSuffix("” is not a regular file.") == true)
                }
            }
        }
    }

    @Test func `a metalink behind a link is read`() async throws {
        try await withTemporaryFolder { folder in
            try TestFile.write(Self.metalink, to: folder + "/real")
            #expect(symlink("real", folder + "/a.metalink") == 0)
            #expect(try await judge(["file://\(folder)/a.metalink"], in: folder).count == 2)
        }
    }

    @Test func `an application from a sandbox opens URLs, and no file`() async throws {
        try await withTemporaryFolder { folder in
            try TestFile.write(Self.metalink, to: folder + "/a.meta4")
            let uri = "file://\(folder)/a.meta4"
            #expect(await refusal([uri], in: folder, owner: "flatpak/a")?.code == .accessDenied)
            let tasks = try await judge(["http://e.org/a"], in: folder, owner: "flatpak/a")
            #expect(tasks.map(\.request.owner) == ["flatpak/a"])
            #expect(tasks.map(\.request.usesStoredLogins) == [false])
        }
    }

    @Test func `more metalinks than 100 are refused before one is read`() async {
        await withTemporaryFolder { folder in
            let uris = Array(repeating: "file:///nowhere/a.meta4", count: 101)
            #expect(await refusal(uris, in: folder)?.code == .limitExceeded)
        }
    }

    // MARK: A metalink with options

    @Test func `the options of a metalink go to each of its files`() async throws {
        try await withTemporaryFolder { folder in
            try TestFile.write(Self.metalink, to: folder + "/a.meta4")
            var options = AddOptions()
            options.directory = folder + "/elsewhere"
            options.paused = true
            options.priority = 3
            options.connections = 2
            options.speedLimit = 9
            options.referrer = "http://me:SECRET@e.org/page"
            options.userAgent = "me/1"
            options.headers = [.init(name: "X-A", value: "b")]
            options.whenDone = .open
            let tasks = try await judge(in: folder) {
                try await $0.judge(metalinkAt: folder + "/a.meta4", options)
            }
            let requests = tasks.map(\.request)
            #expect(requests.map(\.url) == ["https://e.org/1", "https://f.org/2"])
            #expect(requests.map(\.fileName) == ["a.iso", "b.iso"])
            #expect(requests.map(\.expectedSize) == [7, nil])
            #expect(requests.map(\.mirrors) == [[], ["https://g.org/2"]])
            #expect(requests.allSatisfy { $0.directory == folder + "/elsewhere" })
            #expect(requests.allSatisfy { $0.headers == [.init(name: "X-A", value: "b")] })
            #expect(requests.allSatisfy { $0.referrer == "http://e.org/page" })
            #expect(requests.allSatisfy { $0.userAgent == "me/1" && $0.connections == 2 })
            #expect(requests.allSatisfy { $0.whenDone == .open && !$0.usesStoredLogins })
            #expect(tasks.allSatisfy { $0.isPaused && $0.priority == 3 && $0.speedLimit == 9 })
            #expect(TestFile.exists(folder + "/elsewhere"))
            #expect(!TestFile.exists(folder + "/downloads"))
        }
    }

    @Test func `of a metalink's files the name that is taken is known`() async throws {
        try await withTemporaryFolder { folder in
            try TestFile.write(Self.metalink, to: folder + "/a.meta4")
            try TestFile.write("", to: folder + "/b.iso")
            var options = AddOptions()
            options.directory = folder
            for taken in ["b.iso", nil] {
                options.onExisting = taken == nil ? .rename : .fail
                let tasks = try await judge(in: folder) {
                    try await $0.judge(metalinkAt: folder + "/a.meta4", options)
                }
                #expect(tasks.map(\.takenName) == [nil, taken])
            }
        }
    }

    @Test(arguments: [
        ("", "absolute"), ("a.meta4", "absolute"), ("/a.txt", ".meta4"),
        ("/nowhere/a.meta4", "a.meta4"), ("/nowhere/a.meta4", "does not exist"),
        ("file:///a.meta4", "absolute"),
    ])
    func `a path that is no metalink's is refused in words`(path: String, word: String) async {
        await withTemporaryFolder { folder in
            let error = await refusal {
                try await judge(in: folder) {
                    try await $0.judge(metalinkAt: path, AddOptions())
                }
            }
            #expect(error?.code == .invalidURL)
            #expect(error?.message.contains(word) == true, "\(error?.message ?? "")")
            #expect(!TestFile.exists(folder + "/downloads"))
        }
    }
}
