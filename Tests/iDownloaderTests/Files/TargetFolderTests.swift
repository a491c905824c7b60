// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownTesting

@testable import iDownloader

@Suite struct TargetFolderTests {
    private let system = FileSystem()

    private func judge(
        _ text: String,
        closed: [String] = [],
        inside enclosing: String? = nil,
        everywhere: Bool = false
    ) throws(FolderRefusal) -> TargetFolder {
        var rules = FolderRules(closedFolders: closed, allowsEverywhere: everywhere)
        rules.enclosingFolder = enclosing
        return try TargetFolder(
            text,
            rules: rules,
            closed: ClosedFolders(fileSystem: system, longestWait: .seconds(60)),
            fileSystem: system
        )
    }

    @Test func `a folder that exists is taken as it is`() async throws {
        try await withTemporaryFolder { path throws in
            let folder = try judge(path)
            #expect(folder.path == path)
            try folder.make(fileSystem: system)
            #expect(names(in: path).isEmpty)
        }
    }

    @Test func `missing folders are made, and only by make`() async throws {
        try await withTemporaryFolder { path throws in
            let folder = try judge(path + "//a/./b c/ä/")
            #expect(folder.path == path + "/a/b c/ä")
            #expect(names(in: path).isEmpty)
            try folder.make(fileSystem: system)
            #expect(names(in: path + "/a/b c") == ["ä"])
            try folder.make(fileSystem: system)
        }
    }

    @Test func `new folders have the user's usual permissions`() async throws {
        try await withTemporaryFolder { path throws in
            try judge(path + "/a").make(fileSystem: system)
            let status = try OpenFolder(path, fileSystem: system).status(of: "a")
            #expect(status?.mode == 0o777 & ~FileSystem.umask)
        }
    }

    @Test(arguments: ["", "relative", "./a", "~/a", "file:///tmp", "a/../../b"])
    func `a path that is not absolute is refused`(text: String) {
        #expect(throws: FolderRefusal.self) { try judge(text) }
    }

    @Test func `what is no path is refused`() async throws {
        await withTemporaryFolder { path in
            #expect(throws: FolderRefusal.self) { try judge(path + "/a\0b") }
            #expect(throws: FolderRefusal.self) {
                try judge(path + String(repeating: "/a", count: 3000))
            }
            #expect(throws: FolderRefusal.self) {
                try judge(path + "/x/" + String(repeating: "a", count: 256))
            }
        }
    }

    @Test func `a way back through a missing folder is refused`() async throws {
        try await withTemporaryFolder { path throws in
            #expect(throws: FolderRefusal.self) { try judge(path + "/missing/../a") }
            #expect(mkdir(path + "/there", 0o700) == 0)
            #expect(try judge(path + "/there/../a").path == path + "/a")
        }
    }

    @Test func `hidden folders are closed, made or not`() async throws {
        try await withTemporaryFolder { path throws in
            #expect(throws: FolderRefusal.self) { try judge(path + "/.ssh") }
            #expect(throws: FolderRefusal.self) { try judge(path + "/a/.config/autostart") }
            #expect(mkdir(path + "/.local", 0o700) == 0)
            #expect(throws: FolderRefusal.self) { try judge(path + "/.local/bin") }
            #expect(names(in: path) == [".local"])
            #expect(try judge(path + "/.local/bin", everywhere: true).path == path + "/.local/bin")
        }
    }

    @Test func `a link into a hidden folder is judged by where it leads`() async throws {
        try await withTemporaryFolder { path throws in
            #expect(mkdir(path + "/.config", 0o700) == 0)
            #expect(symlink(path + "/.config", path + "/innocent") == 0)
            #expect(throws: FolderRefusal.self) { try judge(path + "/innocent") }
            #expect(throws: FolderRefusal.self) { try judge(path + "/innocent/autostart") }
            #expect(names(in: path + "/.config").isEmpty)
        }
    }

    @Test func `a link with a hidden name into an open folder is taken`() async throws {
        try await withTemporaryFolder { path throws in
            #expect(mkdir(path + "/open", 0o700) == 0)
            #expect(symlink("open", path + "/.link") == 0)
            #expect(try judge(path + "/.link/a").path == path + "/open/a")
        }
    }

    @Test func `closed folders are closed with all below them and nothing beside them`()
        async throws
    {
        try await withTemporaryFolder { path throws in
            let closed = [path + "/config", path + "/run/user/"]
            #expect(throws: FolderRefusal.self) { try judge(path + "/config", closed: closed) }
            #expect(throws: FolderRefusal.self) { try judge(path + "/config/a/b", closed: closed) }
            #expect(throws: FolderRefusal.self) { try judge(path + "/run/user", closed: closed) }
            #expect(try judge(path + "/configuration", closed: closed).path.hasSuffix("ation"))
            #expect(try judge(path + "/run", closed: closed).path == path + "/run")
        }
    }

    @Test func `borders are those of bytes: an accent behind a slash opens no closed folder`()
        async throws
    {
        try await withTemporaryFolder { path throws in
            let closed = [path + "/conf"]
            #expect(throws: FolderRefusal.self) {
                try judge(path + "/conf/\u{301}x", closed: closed)
            }
            // One text in two spellings is two folders.
            let (own, other) = (path + "/T\u{E9}", path + "/Te\u{301}")
            #expect(throws: FolderRefusal.self) { try judge(other, inside: own) }
            let within = try judge(own + "/\u{301}x", inside: own)
            #expect(Array(within.path.utf8) == Array((own + "/\u{301}x").utf8))
        }
    }

    @Test func `a closed folder that is itself a link is closed at its end`() async throws {
        try await withTemporaryFolder { path throws in
            #expect(mkdir(path + "/real", 0o700) == 0)
            #expect(symlink("real", path + "/config") == 0)
            let closed = [path + "/config"]
            #expect(throws: FolderRefusal.self) { try judge(path + "/real/a", closed: closed) }
            #expect(throws: FolderRefusal.self) { try judge(path + "/config", closed: closed) }
            #expect(throws: FolderRefusal.self) {
                try judge(path + "/real/sub", closed: [path + "/config/sub"])
            }
        }
    }

    @Test func `no folder is made through a link that leads nowhere`() async throws {
        try await withTemporaryFolder { path throws in
            #expect(symlink(path + "/elsewhere", path + "/link") == 0)
            let folder = try judge(path + "/link/a")
            #expect(throws: FolderRefusal.self) { try folder.make(fileSystem: system) }
            #expect(names(in: path) == ["link"])
        }
    }

    @Test func `a link that comes after the judgement is not followed`() async throws {
        try await withTemporaryFolder { path throws in
            let folder = try judge(path + "/a/b")
            #expect(mkdir(path + "/.secret", 0o700) == 0)
            #expect(symlink(path + "/.secret", path + "/a") == 0)
            #expect(throws: FolderRefusal.self) { try folder.make(fileSystem: system) }
            #expect(names(in: path + "/.secret").isEmpty)
        }
    }

    @Test func `a folder that becomes a link after the judgement is not written to`() async throws {
        try await withTemporaryFolder { path throws in
            #expect(mkdir(path + "/a", 0o700) == 0)
            #expect(mkdir(path + "/a/b", 0o700) == 0)
            let folder = try judge(path + "/a/b/c")
            #expect(mkdir(path + "/.secret", 0o700) == 0)
            #expect(mkdir(path + "/.secret/b", 0o700) == 0)
            #expect(rename(path + "/a", path + "/moved") == 0)
            #expect(symlink(path + "/.secret", path + "/a") == 0)
            #expect(throws: FolderRefusal.self) { try folder.make(fileSystem: system) }
            #expect(names(in: path + "/.secret/b").isEmpty)
            #expect(names(in: path + "/moved/b").isEmpty)
        }
    }

    @Test func `a file is no folder`() async throws {
        try await withTemporaryFolder { path throws in
            putFile(path + "/file")
            #expect(throws: FolderRefusal.self) { try judge(path + "/file/a") }
            let folder = try judge(path + "/file")
            let refusal = #expect(throws: FolderRefusal.self) {
                try folder.make(fileSystem: system)
            }
            #expect(
                refusal?.message == "The path does not lead to a folder. Choose a folder."
            )
        }
    }

    @Test func `a loop of links is refused`() async throws {
        await withTemporaryFolder { path in
            #expect(symlink("loop", path + "/loop") == 0)
            #expect(throws: FolderRefusal.self) { try judge(path + "/loop/a") }
        }
    }

    @Test func `a name that is not UTF-8 is refused`() async throws {
        await withTemporaryFolder { path in
            let latin: [CChar] = path.utf8.map { CChar(bitPattern: $0) } + [0x2F, -28, 0]
            #expect(mkdir(latin, 0o700) == 0)
            #expect(symlink(latin, path + "/link") == 0)
            #expect(throws: FolderRefusal.self) { try judge(path + "/link") }
        }
    }

    @Test(arguments: [EACCES, EROFS, EPERM])
    func `a folder that cannot be written to is refused`(errno: Int32) async throws {
        try await withTemporaryFolder { path throws in
            let folder = try judge(path)
            let count = FaultPlan()
            try folder.make(fileSystem: FileSystem(faults: count))
            // The look at the permissions comes last.
            let plan = FaultPlan(failing: count.calls, with: errno)
            #expect(throws: FolderRefusal.self) {
                try folder.make(fileSystem: FileSystem(faults: plan))
            }
        }
    }

    @Test func `the root itself can be judged`() throws {
        #expect(try judge("/").path == "/")
        #expect(try judge("/no-such-folder/a").path == "/no-such-folder/a")
    }
}
