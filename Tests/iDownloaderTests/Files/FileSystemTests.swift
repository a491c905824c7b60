// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownTesting

@testable import iDownloader

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
            #expect(try OpenFolder(path, fileSystem: FileSystem()).traits.hasHoles)
        }
        #expect(!fat.hasHoles && !exFAT.hasHoles)
        #expect(ext4.hasHoles && tmpfs.hasHoles)
    }

    @Test func `a file on a stick is known again by its birth, whatever its inode is now`() {
        // 2026-01-01 00:00:01.987654321, of which FAT keeps the even second, and exFAT may.
        let made = FileIdentity(device: 1, inode: 100, birth: 1_767_225_601_987_654_321)
        let again = FileIdentity(device: 2, inode: 7, birth: 1_767_225_600_000_000_000)
        let other = FileIdentity(device: 1, inode: 100, birth: 1_767_225_602_000_000_000)
        for stick in [fat, exFAT] {
            #expect(stick.mark(of: made) == stick.mark(of: again))
            #expect(stick.mark(of: made) != stick.mark(of: other))
            // Older kernels know no birth on FAT: then the inode has to do.
            let (one, two) = (FileIdentity(device: 1, inode: 1, birth: 0), 2 as UInt64)
            #expect(stick.mark(of: one) != stick.mark(of: .init(device: 1, inode: two, birth: 0)))
        }
        #expect(ext4.mark(of: made) != ext4.mark(of: again))
        let renumbered = FileIdentity(device: 2, inode: made.inode, birth: made.birth)
        #expect(ext4.mark(of: made) == ext4.mark(of: renumbered))
    }

    @Test func `a file system has its number from its superblock, or its kind`() {
        #expect(ext4.number != FileSystemTraits(kind: 0xEF53, id: 2).number)
        #expect(FileSystemTraits(kind: 0x6969, id: 0).number != 0)
        // What ends with its mount has lost nothing that could come back.
        #expect(tmpfs.number == 0)
    }

    private var ext4: FileSystemTraits { FileSystemTraits(kind: 0xEF53, id: 1) }
    private var tmpfs: FileSystemTraits { FileSystemTraits(kind: 0x0102_1994, id: 1) }
    private var fat: FileSystemTraits { FileSystemTraits(kind: 0x4D44, id: 1) }
    private var exFAT: FileSystemTraits { FileSystemTraits(kind: 0x2011_BAB0, id: 1) }

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
            let plan = FaultPlan(failing: 2, with: EIO, isMade: true)
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

    @Test func `the umask stays as it is`() {
        let known = FileSystem.umask
        let now = Glibc.umask(known)
        #expect(now == known)
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
