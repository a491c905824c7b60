// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownState
import iDownTesting
import iDownloader

@Suite struct OpenFolderTests {
    private let system = FileSystem()

    @Test func `the recorded path opens`() async throws {
        try await withTemporaryFolder { path throws in
            let folder = try OpenFolder(path, fileSystem: system)
            #expect(folder.path == path)
            #expect(folder.nameLimit == 255)
            #expect(try folder.freeBytes() > 0)
            // It has no size.
            #expect(try OpenFolder("/proc", fileSystem: system).freeBytes() == .max)
            try folder.synchronize()
        }
    }

    @Test func `a folder that is gone has vanished`() async throws {
        await withTemporaryFolder { path in
            let error = #expect(throws: FileError.self) {
                try OpenFolder(path + "/gone", fileSystem: system)
            }
            #expect(error?.failure.code == .fileVanished)
        }
    }

    @Test(arguments: ["link", "file"])
    func `what stands in the place of the folder is not opened`(kind: String) async {
        await withTemporaryFolder { path in
            switch kind {
            case "file": putFile(path + "/a")
            default: #expect(symlink("/tmp", path + "/a") == 0)
            }
            let error = #expect(throws: FileError.self) {
                try OpenFolder(path + "/a", fileSystem: system)
            }
            guard case .folderMoved = error else {
                Issue.record("said \(String(describing: error))")
                return
            }
        }
    }

    @Test func `a folder that cannot be synced is told, one that knows no sync is not`()
        async throws
    {
        try await withTemporaryFolder { path throws in
            let count = FaultPlan()
            _ = try OpenFolder(path, fileSystem: FileSystem(faults: count))
            func synchronize(failingWith errno: Int32) throws {
                let plan = FaultPlan(failing: count.calls + 1, with: errno)
                try OpenFolder(path, fileSystem: FileSystem(faults: plan)).synchronize()
            }
            try synchronize(failingWith: EINVAL)
            #expect(throws: FileError.self) { try synchronize(failingWith: EIO) }
            #expect(throws: FileError.self) { try synchronize(failingWith: EROFS) }
        }
    }

    @Test func `a link further up the path is found out`() async throws {
        await withTemporaryFolder { path in
            #expect(mkdir(path + "/real", 0o700) == 0)
            #expect(mkdir(path + "/real/a", 0o700) == 0)
            #expect(symlink("real", path + "/link") == 0)
            let error = #expect(throws: FileError.self) {
                try OpenFolder(path + "/link/a", fileSystem: system)
            }
            guard case .folderMoved = error else {
                Issue.record("not said to have moved: \(String(describing: error))")
                return
            }
        }
    }

    @Test func `an open folder is used wherever it is moved to`() async throws {
        try await withTemporaryFolder { path throws in
            #expect(mkdir(path + "/a", 0o700) == 0)
            let folder = try OpenFolder(path + "/a", fileSystem: system)
            #expect(rename(path + "/a", path + "/b") == 0)
            #expect(symlink("/nowhere", path + "/a") == 0)
            _ = try PartFile.create("file", in: folder)
            #expect(names(in: path + "/b") == ["file.part"])
        }
    }

    @Test func `a descriptor is closed with the last that holds it`() async throws {
        try await withTemporaryFolder { path throws in
            var folder: OpenFolder? = try OpenFolder(path, fileSystem: system)
            let number = try #require(folder?.number)
            let part = try folder.map { try PartFile.create("a", in: $0) }
            folder = nil
            #expect(fcntl(number, F_GETFD) >= 0)
            withExtendedLifetime(part) {}
        }
    }
}
