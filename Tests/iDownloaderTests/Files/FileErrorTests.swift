// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownState
import iDownloader

@Suite struct FileErrorTests {
    @Test(arguments: [
        (ENOSPC, FailureCode.fileNoSpace),
        (EDQUOT, .fileNoSpace),
        (EFBIG, .fileNoSpace),
        (EACCES, .fileAccessDenied),
        (EPERM, .fileAccessDenied),
        (EROFS, .fileAccessDenied),
        (ENAMETOOLONG, .fileNameTooLong),
        (ENOENT, .fileVanished),
        (ESTALE, .fileFailed),
        (EIO, .fileFailed),
    ])
    func `each error of the system has its code`(errno: Int32, code: FailureCode) {
        let failure = FileError.system(errno, "pwrite").failure
        #expect(failure.code == code)
        #expect(!failure.message.isEmpty)
    }

    @Test func `an error without a sentence of ours has the system's`() {
        let message = FileError.system(EIO, "fsync").failure.message
        #expect(message.contains("(fsync: Input/output error)"))
    }

    @Test(arguments: [EACCES, EPERM])
    func `a want of permission is told without the name of a system call`(errno: Int32) {
        let message = FileError.system(errno, "renameat2").failure.message
        #expect(!message.contains("renameat2"), "\(message)")
    }

    @Test func `a name that is taken names the command that gives another`() throws {
        let message = FileError.nameTaken.failure.message(for: try #require(TaskID("7")))
        #expect(message.contains("`idown edit 7 --output NAME`"), "\(message)")
        #expect(message.contains("its .part file"), "\(message)")
    }

    @Test func `an unknown error does not trap`() {
        #expect(FileError.system(.max, "fsync").failure.code == .fileFailed)
        #expect(FileError.system(.min, "fsync").failure.code == .fileFailed)
    }

    @Test(arguments: [EMFILE, ENOMEM, ESTALE, ENOTCONN, ETIMEDOUT])
    func `a want of descriptors passes, and so does the start of a drive's server`(errno: Int32) {
        #expect(FileError.system(errno, "openat").failure.isTransient)
        #expect(!FileError.system(EIO, "openat").failure.isTransient)
    }

    @Test func `our own reasons have codes`() {
        #expect(FileError.nameTaken.failure.code == .fileExists)
        #expect(FileError.vanished.failure.code == .fileVanished)
        #expect(FileError.notOurs.failure.code == .fileVanished)
        #expect(FileError.folderMoved.failure.code == .fileVanished)
    }

    @Test func `only a name that the file system refuses is worth another spelling`() {
        #expect(FileError.system(EINVAL, "openat").isNameRefused)
        #expect(FileError.system(EILSEQ, "openat").isNameRefused)
        #expect(!FileError.system(ENOENT, "openat").isNameRefused)
        #expect(!FileError.nameTaken.isNameRefused)
    }
}
