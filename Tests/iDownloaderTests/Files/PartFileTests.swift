// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownState
import iDownTesting
import iDownloader

@Suite struct PartFileTests {
    /// Runs `body` with an open, empty folder.
    private func withFolder(
        faults: FaultPlan? = nil,
        _ body: (OpenFolder) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { path throws in
            try await body(OpenFolder(path, fileSystem: FileSystem(faults: faults)))
        }
    }

    @Test func `a new file is empty, ours, and nobody else's to read`() async throws {
        try await withFolder { folder throws in
            let part = try PartFile.create("a.iso", in: folder)
            let status = try #require(try folder.status(of: "a.iso.part"))
            #expect(folder.isRecorded(status, as: part.file))
            #expect(status.mode == 0o600)
            #expect(status.size == 0)
            #expect(part.file.name == "a.iso")
        }
    }

    @Test(arguments: ["file", "folder", "link", "dangling link", "pipe"])
    func `whatever stands under the name is left alone`(kind: String) async throws {
        try await withFolder { folder throws in
            let path = folder.path + "/a.part"
            switch kind {
            case "file": putFile(path)
            case "folder": #expect(mkdir(path, 0o700) == 0)
            case "link":
                putFile(folder.path + "/target")
                #expect(symlink("target", path) == 0)
            case "dangling link": #expect(symlink("target", path) == 0)
            default: #expect(mkfifo(path, 0o600) == 0)
            }
            let before = names(in: folder.path)
            let error = #expect(throws: FileError.self) { try PartFile.create("a", in: folder) }
            #expect(error?.failure.code == .fileExists)
            #expect(names(in: folder.path) == before)
            if kind == "link" {
                #expect(contents(of: folder.path + "/target") == "somebody else's")
            }
        }
    }

    @Test func `a file that cannot be looked at leaves no trace`() async throws {
        try await withTemporaryFolder { path throws in
            let count = FaultPlan()
            let system = FileSystem(faults: count)
            _ = try OpenFolder(path, fileSystem: system)
            // The opening of the file, then the look at it.
            let plan = FaultPlan(failing: count.calls + 2)
            let folder = try OpenFolder(path, fileSystem: FileSystem(faults: plan))
            #expect(throws: FileError.self) { try PartFile.create("a", in: folder) }
            #expect(names(in: path).isEmpty)
        }
    }

    @Test func `our file opens again with its bytes`() async throws {
        try await withFolder { folder throws in
            let file = try makePart("a", "bytes", in: folder)
            let part = try PartFile.reopen(file, in: folder)
            #expect(try part.contents() == Array("bytes".utf8))
            try part.write("B", at: 0)
            #expect(contents(of: folder.path + "/a.part") == "Bytes")
        }
    }

    @Test func `a file that is gone has vanished`() async throws {
        try await withFolder { folder throws in
            let file = try makePart("a", "bytes", in: folder)
            #expect(unlink(folder.path + "/a.part") == 0)
            let error = #expect(throws: FileError.self) { try PartFile.reopen(file, in: folder) }
            guard case .vanished = error else {
                Issue.record("said \(String(describing: error))")
                return
            }
        }
    }

    @Test(arguments: ["another file", "link to ours", "folder", "pipe"])
    func `what is not ours is not opened`(kind: String) async throws {
        try await withFolder { folder throws in
            let file = try makePart("a", "bytes", in: folder)
            let path = folder.path + "/a.part"
            let moved = folder.path + "/moved"
            switch kind {
            case "another file":
                #expect(rename(path, moved) == 0)
                putFile(path)
            case "link to ours":
                #expect(rename(path, moved) == 0)
                #expect(symlink("moved", path) == 0)
            case "folder":
                #expect(rename(path, moved) == 0)
                #expect(mkdir(path, 0o700) == 0)
            default:
                #expect(rename(path, moved) == 0)
                #expect(mkfifo(path, 0o600) == 0)
            }
            let error = #expect(throws: FileError.self) { try PartFile.reopen(file, in: folder) }
            guard case .notOurs = error else {
                Issue.record("said \(String(describing: error))")
                return
            }
        }
    }

    @Test func `blocks are reserved without growing the file`() async throws {
        try await withFolder { folder throws in
            let part = try PartFile.create("a", in: folder)
            try part.reserve(upTo: 1 << 20)
            #expect(try part.size() == 0)
        }
    }

    @Test(arguments: [EOPNOTSUPP, ENOSYS, EINVAL, EIO])
    func `a file system that cannot reserve blocks is used all the same`(errno: Int32) async throws
    {
        let error = try await failureOfReserving(with: errno)
        #expect(error == nil)
    }

    @Test(arguments: [ENOSPC, EDQUOT])
    func `a want of space is told before the first byte`(errno: Int32) async throws {
        let error = try await failureOfReserving(with: errno)
        #expect(error?.failure.code == .fileNoSpace)
    }

    private func failureOfReserving(with errno: Int32) async throws -> FileError? {
        try await withTemporaryFolder { path throws in
            let count = FaultPlan()
            _ = try PartFile.create(
                "b",
                in: OpenFolder(path, fileSystem: FileSystem(faults: count))
            )
            let plan = FaultPlan(failing: count.calls + 1, with: errno)
            let part = try PartFile.create(
                "a",
                in: OpenFolder(path, fileSystem: FileSystem(faults: plan))
            )
            do throws(FileError) {
                try part.reserve(upTo: 1 << 20)
                return nil
            } catch {
                return error
            }
        }
    }

    @Test func `cutting and holes`() async throws {
        try await withFolder { folder throws in
            let part = try PartFile.create("a", in: folder)
            try part.write("0123456789")
            try part.truncate(to: 4)
            try part.write("x", at: 6)
            #expect(try part.contents() == Array("0123\0\0x".utf8))
            try part.synchronizeData()
            try part.synchronize()
        }
    }

    @Test func `reading ends with the file`() async throws {
        try await withFolder { folder throws in
            let part = try PartFile.create("a", in: folder)
            try part.write("0123456789")
            var bytes = [UInt8](repeating: 0xFF, count: 8)
            let count = try bytes.withUnsafeMutableBytes { try part.read(into: $0, at: 6) }
            #expect(count == 4)
            #expect(bytes.prefix(4) == [0x36, 0x37, 0x38, 0x39])
            let none = try bytes.withUnsafeMutableBytes { try part.read(into: $0, at: 10) }
            #expect(none == 0)
        }
    }

    @Test func `a finished file has the permissions of any new file`() async throws {
        try await withFolder { folder throws in
            let part = try PartFile.create("a", in: folder)
            try part.setFinalPermissions()
            #expect(try folder.status(of: "a.part")?.mode == 0o666 & ~FileSystem.umask)
        }
    }

    @Test func `the origin is recorded where the file system can`() async throws {
        try await withFolder { folder throws in
            let part = try PartFile.create("a", in: folder)
            part.recordOrigin(url: "https://example.org/a", referrer: "https://example.org/")
            part.recordOrigin(url: "https://example.org/b", referrer: nil)
            #expect(try part.size() == 0)
        }
    }
}

/// Makes a partial file and closes it.
func makePart(_ name: String, _ text: String, in folder: OpenFolder) throws -> LocalFile {
    let part = try PartFile.create(name, in: folder)
    try part.write(text)
    return part.file
}
