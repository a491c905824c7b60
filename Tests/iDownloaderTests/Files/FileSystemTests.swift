// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownTesting
import iDownloader

@Suite struct FileSystemTests {
    @Test func `a call that is chosen fails once with the chosen error`() async throws {
        try await withTemporaryFolder { path throws in
            let system = FileSystem(faults: FaultPlan(failing: 2, with: ESTALE))
            let folder = try system.open(path, in: AT_FDCWD, flags: O_RDONLY)
            let error = #expect(throws: FileError.self) { try system.status(of: folder.number) }
            #expect(error?.errno == ESTALE)
            #expect(try system.status(of: folder.number).isFolder)
        }
    }

    @Test func `a file on a stick has no holes`() async throws {
        try await withTemporaryFolder { path throws in
            #expect(try OpenFolder(path, fileSystem: FileSystem()).hasHoles)
        }
        // FAT and exFAT; ext4 and tmpfs.
        #expect(!FileSystem.hasHoles(kind: 0x4D44) && !FileSystem.hasHoles(kind: 0x2011_BAB0))
        #expect(FileSystem.hasHoles(kind: 0xEF53) && FileSystem.hasHoles(kind: 0x0102_1994))
    }

    @Test func `a call that a signal interrupts is made again`() async throws {
        try await withTemporaryFolder { path throws in
            let plan = FaultPlan(failing: 1, with: EINTR, times: 3)
            let folder = try FileSystem(faults: plan).open(path, in: AT_FDCWD, flags: O_RDONLY)
            #expect(folder.number >= 0)
            #expect(plan.calls == 4)
        }
    }

    @Test func `a lost answer leaves the work done`() async throws {
        try await withTemporaryFolder { path throws in
            let plan = FaultPlan(failing: 2, with: EIO, manner: .answerLost)
            let system = FileSystem(faults: plan)
            let folder = try system.open(path, in: AT_FDCWD, flags: O_RDONLY)
            #expect(throws: FileError.self) {
                try system.makeFolder("made", in: folder.number, mode: 0o700)
            }
            #expect(try system.status(of: "made", in: folder.number)?.isFolder == true)
        }
    }

    @Test(arguments: [1, 3, 7, 100])
    func `writes that the kernel cuts short are gone on with`(portion: Int) async throws {
        try await withTemporaryFolder { path throws in
            let system = FileSystem(faults: FaultPlan(longestWrite: portion))
            let part = try PartFile.create("a", in: OpenFolder(path, fileSystem: system))
            let bytes = (0..<100).map { UInt8($0) }
            try bytes.withUnsafeBytes { bytes in
                try part.write(bytes, at: 5)
            }
            #expect(try part.contents() == [0, 0, 0, 0, 0] + bytes)
        }
    }

    @Test func `the umask is read without being changed`() {
        let before = Glibc.umask(0o027)
        defer { _ = Glibc.umask(before) }
        #expect(FileSystem().umask() == 0o027)
        #expect(FileSystem().umask() == 0o027)
    }

    @Test func `where the umask cannot be read everything is withheld from others`() {
        #expect(FileSystem(faults: FaultPlan(failing: 1)).umask() == 0o077)
        #expect(FileSystem(faults: FaultPlan(failing: 2)).umask() == 0o077)
    }

    @Test func `nothing is opened through a link`() async throws {
        try await withTemporaryFolder { path throws in
            #expect(symlink("/etc/passwd", path + "/link") == 0)
            let system = FileSystem()
            let folder = try system.open(path, in: AT_FDCWD, flags: O_RDONLY)
            let error = #expect(throws: FileError.self) {
                try system.open("link", in: folder.number, flags: O_RDONLY)
            }
            #expect(error?.errno == ELOOP)
        }
    }
}
