// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownState
import iDownTesting

@testable import iDownloader

@Suite struct PartFileUnnamedTests {
    @Test func `a file that was never shown leaves nothing behind`() async throws {
        try await withTemporaryFolder { path throws in
            let folder = try OpenFolder(path, fileSystem: FileSystem())
            do {
                let part = try PartFile.createUnnamed("a", in: folder)
                #expect(part.file.name == "a")
                #expect(TestFile.names(in: path) == [])
            }
            #expect(TestFile.names(in: path) == [])
        }
    }

    @Test func `an unnamed file appears under its name, once or twice`() async throws {
        try await withTemporaryFolder { path throws in
            let folder = try OpenFolder(path, fileSystem: FileSystem())
            let part = try PartFile.createUnnamed("a", in: folder)
            #expect(try part.appear() == nil)
            #expect(try part.appear() == nil)
            #expect(TestFile.names(in: path) == ["a.part"])
            let again = try PartFile.reopen(part.file, in: folder)
            #expect(try again.size() == 0)
        }
    }

    @Test func `where somebody was faster it takes the next name and touches nothing`()
        async throws
    {
        try await withTemporaryFolder { path throws in
            let folder = try OpenFolder(path, fileSystem: FileSystem())
            let task = try #require(TaskID(rawValue: 1))
            let names = NameReservations()
            let wanted = FileName(trusted: "a.iso")
            let part = try names.create([wanted], in: folder, for: task, mayRename: true) {
                name throws(FileError) in try PartFile.createUnnamed(name, in: folder)
            }
            try TestFile.write("theirs", to: path + "/a.iso.part")
            let next = try #require(try names.appear(part, for: task, mayRename: true))
            #expect(next.file.name == "a (1).iso")
            #expect(next.file.mark == part.file.mark)
            #expect(try names.appear(next, for: task, mayRename: true) == nil)
            #expect(TestFile.names(in: path) == ["a (1).iso.part", "a.iso.part"])
            #expect(try TestFile.text(of: path + "/a.iso.part") == "theirs")
        }
    }

    @Test func `a file system that knows only named files gets one at once`() async throws {
        try await withTemporaryFolder { path throws in
            let count = FaultPlan()
            _ = try OpenFolder(path, fileSystem: FileSystem(faults: count))
            let plan = FaultPlan(failing: count.calls + 1, with: EOPNOTSUPP)
            let folder = try OpenFolder(path, fileSystem: FileSystem(faults: plan))
            let part = try PartFile.createUnnamed("a", in: folder)
            #expect(TestFile.names(in: path) == ["a.part"])
            #expect(try part.appear() == nil)
            #expect(TestFile.names(in: path) == ["a.part"])
        }
    }

    @Test(arguments: [ENOENT, EPERM])
    func `where no unnamed file can get a name, another is made by name`(errno: Int32)
        async throws
    {
        try await withTemporaryFolder { path throws in
            let count = FaultPlan()
            let counted = try OpenFolder(path, fileSystem: FileSystem(faults: count))
            _ = try PartFile.createUnnamed("a", in: counted)
            // The status comes first, then the link.
            let plan = FaultPlan(failing: count.calls + 2, with: errno)
            let folder = try OpenFolder(path, fileSystem: FileSystem(faults: plan))
            let part = try PartFile.createUnnamed("a", in: folder)
            let other = try #require(try part.appear())
            #expect(other.file.mark != part.file.mark)
            #expect(try other.appear() == nil)
            #expect(TestFile.names(in: path) == ["a.part"])
            _ = try PartFile.reopen(other.file, in: folder)
        }
    }
}
