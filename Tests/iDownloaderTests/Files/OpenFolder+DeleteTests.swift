// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownState
import iDownTesting
import iDownloader

@Suite struct OpenFolderDeleteTests {
    @Test func `our partial file is deleted, and nothing else`() async throws {
        try await withTemporaryFolder { path throws in
            let folder = try OpenFolder(path, fileSystem: FileSystem())
            let file = try makePart("a", "bytes", in: folder)
            putFile(path + "/a")
            #expect(try folder.deletePart(file))
            #expect(try !folder.deletePart(file))
            #expect(names(in: path) == ["a"])
        }
    }

    @Test(arguments: ["file", "folder", "link to ours", "pipe"])
    func `what has taken its place is left alone`(kind: String) async throws {
        try await withTemporaryFolder { path throws in
            let folder = try OpenFolder(path, fileSystem: FileSystem())
            let file = try makePart("a", "bytes", in: folder)
            #expect(rename(path + "/a.part", path + "/moved") == 0)
            switch kind {
            case "file": putFile(path + "/a.part")
            case "folder": #expect(mkdir(path + "/a.part", 0o700) == 0)
            case "pipe": #expect(mkfifo(path + "/a.part", 0o600) == 0)
            default: #expect(symlink("moved", path + "/a.part") == 0)
            }
            #expect(try !folder.deletePart(file))
            #expect(names(in: path) == ["a.part", "moved"])
        }
    }
}
