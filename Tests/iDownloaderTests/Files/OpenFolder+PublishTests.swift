// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownState
import iDownTesting
import iDownloader

@Suite struct OpenFolderPublishTests {
    /// The ways to a name: what has to fail so that each is taken.
    enum Way: CaseIterable, Sendable {
        case rename, link, placeholder

        /// How many calls from the rename on fail, and with what.
        var failing: (count: Int, errno: Int32) {
            switch self {
            case .rename: (0, 0)
            case .link: (1, EINVAL)
            case .placeholder: (2, EOPNOTSUPP)
            }
        }
    }

    /// A folder of the same path whose file system lacks what `way` does without; `looks` calls come
    /// before the rename.
    private func folder(_ path: String, lacking way: Way, looks: Int = 2) throws -> OpenFolder {
        let (count, errno) = way.failing
        guard count > 0 else { return try OpenFolder(path, fileSystem: FileSystem()) }
        let counter = FaultPlan()
        _ = try OpenFolder(path, fileSystem: FileSystem(faults: counter))
        // Opening, then the looks at both names, then the rename.
        let plan = FaultPlan(failing: counter.calls + looks + 1, with: errno, times: count)
        return try OpenFolder(path, fileSystem: FileSystem(faults: plan))
    }

    @Test(arguments: Way.allCases)
    func `a complete file gets its name`(way: Way) async throws {
        try await withTemporaryFolder { path throws in
            let file = try makePart("a", "bytes", in: OpenFolder(path, fileSystem: FileSystem()))
            let folder = try folder(path, lacking: way)
            try folder.publish(file, as: "a")
            #expect(names(in: path) == ["a"])
            #expect(contents(of: path + "/a") == "bytes")
        }
    }

    @Test func `a look that fails once leaves no empty file under the new name`() async throws {
        try await withTemporaryFolder { path throws in
            #expect(mkdir(path + "/from", 0o700) == 0 && mkdir(path + "/to", 0o700) == 0)
            putFile(path + "/from/a", "bytes")
            let counter = FaultPlan(of: "statx")
            _ = try OpenFolder(path + "/to", fileSystem: FileSystem(faults: counter))
            let plan = FaultPlan(failing: counter.calls + 1, of: "statx")
            let target = try OpenFolder(path + "/to", fileSystem: FileSystem(faults: plan))
            let folder = try folder(path + "/from", lacking: .placeholder, looks: 0)
            #expect(throws: FileError.self) { try folder.move("a", to: "b", in: target) }
            #expect(names(in: path + "/from") == ["a"] && names(in: path + "/to").isEmpty)
        }
    }

    @Test(arguments: Way.allCases)
    func `a file moves to another folder, and replaces none there`(way: Way) async throws {
        try await withTemporaryFolder { path throws in
            #expect(mkdir(path + "/from", 0o700) == 0 && mkdir(path + "/to", 0o700) == 0)
            putFile(path + "/from/a", "bytes")
            putFile(path + "/to/taken", "theirs")
            let target = try OpenFolder(path + "/to", fileSystem: FileSystem())
            let taken = try folder(path + "/from", lacking: way, looks: 0)
            let error = #expect(throws: FileError.self) {
                try taken.move("a", to: "taken", in: target)
            }
            #expect(error?.failure.code == .fileExists)
            #expect(contents(of: path + "/to/taken") == "theirs")
            let free = try folder(path + "/from", lacking: way, looks: 0)
            try free.move("a", to: "b", in: target)
            #expect(contents(of: path + "/to/b") == "bytes")
            #expect(names(in: path + "/from").isEmpty)
            #expect(names(in: path + "/to").sorted() == ["b", "taken"])
        }
    }

    @Test(arguments: Way.allCases, ["file", "folder", "link", "empty file"])
    func `what has the name keeps it`(way: Way, kind: String) async throws {
        try await withTemporaryFolder { path throws in
            let plain = try OpenFolder(path, fileSystem: FileSystem())
            let file = try makePart("a", "bytes", in: plain)
            switch kind {
            case "file": putFile(path + "/a")
            case "empty file": putFile(path + "/a", "")
            case "folder": #expect(mkdir(path + "/a", 0o700) == 0)
            default: #expect(symlink("nowhere", path + "/a") == 0)
            }
            let before = try plain.status(of: "a")
            let folder = try folder(path, lacking: way)
            let error = #expect(throws: FileError.self) { try folder.publish(file, as: "a") }
            #expect(error?.failure.code == .fileExists)
            #expect(try plain.status(of: "a") == before)
            try folder.publish(file, as: "a (1)")
            #expect(contents(of: path + "/a (1)") == "bytes")
        }
    }

    @Test func `a file that is not ours is not published`() async throws {
        try await withTemporaryFolder { path throws in
            let folder = try OpenFolder(path, fileSystem: FileSystem())
            let file = try makePart("a", "bytes", in: folder)
            #expect(rename(path + "/a.part", path + "/moved") == 0)
            putFile(path + "/a.part")
            let error = #expect(throws: FileError.self) { try folder.publish(file, as: "a") }
            guard case .notOurs = error else {
                Issue.record("said \(String(describing: error))")
                return
            }
            #expect(names(in: path) == ["a.part", "moved"])
        }
    }

    @Test func `a file that is gone has vanished`() async throws {
        try await withTemporaryFolder { path throws in
            let folder = try OpenFolder(path, fileSystem: FileSystem())
            let file = try makePart("a", "bytes", in: folder)
            #expect(unlink(path + "/a.part") == 0)
            #expect(try folder.endPublication(of: file, as: "a") == nil)
            #expect(throws: FileError.self) { try folder.publish(file, as: "a") }
        }
    }

    @Test func `a publication that was done is done`() async throws {
        try await withTemporaryFolder { path throws in
            let folder = try OpenFolder(path, fileSystem: FileSystem())
            let file = try makePart("a", "bytes", in: folder)
            #expect(try folder.endPublication(of: file, as: "a") == nil)
            #expect(names(in: path) == ["a.part"])
            try folder.publish(file, as: "a")
            #expect(try folder.endPublication(of: file, as: "a") == 5)
            try folder.publish(file, as: "a")
            #expect(try folder.endPublication(of: file, as: "a") == 5)
        }
    }

    @Test func `a publication cut off between its two names is completed`() async throws {
        try await withTemporaryFolder { path throws in
            let folder = try OpenFolder(path, fileSystem: FileSystem())
            let file = try makePart("a", "bytes", in: folder)
            #expect(link(path + "/a.part", path + "/a") == 0)
            try folder.publish(file, as: "a")
            #expect(names(in: path) == ["a"])
            #expect(link(path + "/a", path + "/a.part") == 0)
            #expect(try folder.endPublication(of: file, as: "a") == 5)
            #expect(names(in: path) == ["a"])
        }
    }
}
