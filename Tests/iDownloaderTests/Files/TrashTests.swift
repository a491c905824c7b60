// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownState
import iDownTesting
import iDownloader

@Suite struct TrashTests {
    /// A folder with a finished file, and a home for the trash beside it.
    private func withFile(
        _ name: String = "a b.iso",
        _ body: (_ folder: String, _ home: String, LocalFile) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { path throws in
            let folder = path + "/files"
            #expect(mkdir(folder, 0o700) == 0)
            try await body(folder, path + "/data", try finished(name, in: folder))
        }
    }

    private func finished(_ name: String, in folder: String) throws -> LocalFile {
        let open = try OpenFolder(folder, fileSystem: FileSystem())
        let part = try makePart(name, "bytes", in: open)
        try open.publish(part, as: name)
        return LocalFile(name: name, fileSystem: part.fileSystem, mark: part.mark)
    }

    private func trash(_ home: String) -> Trash {
        Trash(dataHome: home, fileSystem: FileSystem())
    }

    @Test func `a file goes into the home's trash with its path and date`() async throws {
        try await withFile { folder, home, file throws in
            #expect(try trash(home).put(file, from: folder, at: 0))
            #expect(names(in: folder) == [])
            #expect(names(in: home + "/Trash/files") == ["a b.iso"])
            let info = try TestFile.text(of: home + "/Trash/info/a b.iso.trashinfo")
            let lines = info.split(separator: "\n")
            #expect(lines[0] == "[Trash Info]")
            #expect(lines[1] == "Path=\(folder)/a%20b.iso")
            let date = lines[2].prefixMatch(
                of: /DeletionDate=19(69|70)-\d\d-\d\dT\d\d:\d\d:\d\d/
            )
            #expect(date != nil, "\(info)")
            #expect(lines.count == 3)
        }
    }

    @Test func `files of one name lie side by side`() async throws {
        try await withFile { folder, home, first throws in
            #expect(try trash(home).put(first, from: folder, at: 0))
            for _ in 0..<2 {
                let next = try finished("a b.iso", in: folder)
                #expect(try trash(home).put(next, from: folder, at: 0))
            }
            #expect(
                names(in: home + "/Trash/files") == ["a b (1).iso", "a b (2).iso", "a b.iso"]
            )
            #expect(names(in: home + "/Trash/info").count == 3)
        }
    }

    @Test func `another file under the name is left alone`() async throws {
        try await withFile { folder, home, file throws in
            #expect(unlink(folder + "/a b.iso") == 0)
            putFile(folder + "/a b.iso")
            #expect(try !trash(home).put(file, from: folder, at: 0))
            #expect(names(in: folder) == ["a b.iso"])
            #expect(unlink(folder + "/a b.iso") == 0)
            #expect(try !trash(home).put(file, from: folder, at: 0))
        }
    }

    @Test func `a long name is cut on a character's border and keeps its extension`() async throws {
        let name = String(repeating: "ü", count: 121) + ".iso"
        try await withFile(name) { folder, home, file throws in
            #expect(try trash(home).put(file, from: folder, at: 0))
            let kept = names(in: home + "/Trash/files")
            #expect(kept == [String(repeating: "ü", count: 116) + " (1).iso"])
            let info = try TestFile.text(of: home + "/Trash/info/\(kept[0]).trashinfo")
            #expect(info.contains(String(repeating: "%C3%BC", count: 121) + ".iso"))
        }
    }

    @Test func `whichever call fails, the file is in one place, and no information without it`()
        async throws
    {
        var failures = 0
        for number in 1...40 {
            try await withFile { folder, home, file throws in
                let plan = FaultPlan(failing: number, with: EACCES)
                let trash = Trash(dataHome: home, fileSystem: FileSystem(faults: plan))
                do throws(FileError) {
                    try trash.put(file, from: folder, at: 0)
                } catch {
                    failures += 1
                }
                let kept = names(in: folder)
                let thrown = names(in: home + "/Trash/files")
                #expect(kept.count + thrown.count == 1, "call \(number)")
                #expect(names(in: home + "/Trash/info").count == thrown.count, "call \(number)")
            }
        }
        #expect(failures > 8)
    }

    @Test(
        .enabled("needs mounts") { await Privilege.canMount() },
        arguments: [
            // Absent; the administrator's; without its sticky bit; a link; a file.
            ("", ".Trash-0"), ("mkdir -m 1777 .Trash", ".Trash/0"),
            ("mkdir -m 0777 .Trash", ".Trash-0"), ("ln -s .hidden .Trash", ".Trash-0"),
            ("touch .Trash", ".Trash-0"),
            // Somebody else's place for us is none.
            ("mkdir -m 1777 .Trash; mkdir .Trash/0; chown 12345 .Trash/0", ".Trash-0"),
        ]
    )
    func `on another disk the trash is the administrator's, else the user's own there`(
        preparation: String,
        place: String
    ) async throws {
        let place = place.replacing("0", with: "\(geteuid())")
        try await withTemporaryFolder { home in
            try await withSmallDisk(mebibytes: 4) { disk in
                let script = "mkdir -m 1777 .hidden; " + preparation
                let done = try await ChildProcess.run(
                    "sh",
                    ["-c", script],
                    workingDirectory: disk.path
                )
                #expect(done.succeeded, "\(done.standardError)")
                let folder = disk.path + "/some folder"
                #expect(mkdir(folder, 0o700) == 0)
                let file = try finished("a b.iso", in: folder)
                #expect(try trash(home).put(file, from: folder, at: 0))
                #expect(names(in: folder) == [])
                #expect(contents(of: "\(disk.path)/\(place)/files/a b.iso") == "bytes")
                let info = contents(of: "\(disk.path)/\(place)/info/a b.iso.trashinfo")
                // Below the top the path is a relative one.
                #expect(info?.contains("\nPath=some%20folder/a%20b.iso\n") == true)
                #expect(names(in: home + "/Trash") == [])
            }
        }
    }

    @Test(.enabled("needs mounts") { await Privilege.canMount() })
    func `where no trash can be made the file stays`() async throws {
        try await withTemporaryFolder { home in
            try await withSmallDisk(mebibytes: 4) { disk in
                let blocked = disk.path + "/.Trash-\(geteuid())"
                #expect(symlink("/nonexistent", blocked) == 0)
                let file = try finished("a.iso", in: disk.path)
                #expect(throws: FileError.self) {
                    try trash(home).put(file, from: disk.path, at: 0)
                }
                #expect(contents(of: disk.path + "/a.iso") == "bytes")
            }
        }
    }

    @Test(.enabled(if: hasSharedMemory, "needs /dev/shm as a file system of its own"))
    func `a file of another file system goes into the trash at its top`() async throws {
        // In /tmp wherever TMPDIR leads: the home has to be on another file system than /dev/shm.
        var template = Array("/tmp/idown-home-XXXXXX".utf8CString)
        _ = try #require(mkdtemp(&template))
        let home = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        let folder = "/dev/shm/idown-trash-test-\(getpid())"
        #expect(mkdir(folder, 0o700) == 0)
        let file = try finished("a.iso", in: folder)
        #expect(try trash(home).put(file, from: folder, at: 0))
        let can = "/dev/shm/.Trash-\(geteuid())"
        let info = names(in: can + "/info").filter { name in
            contents(of: can + "/info/" + name)?
                .contains("Path=\(folder.dropFirst("/dev/shm/".count))/a.iso\n") == true
        }
        #expect(info.count == 1)
        #expect(names(in: folder) == [])
        for name in info {
            let path = can + "/files/" + name.dropLast(".trashinfo".count)
            #expect(contents(of: path) == "bytes")
            for path in [path, can + "/info/" + name] { #expect(unlink(path) == 0) }
        }
        // Only what is empty again: another user of this machine may have put something there.
        for path in [can + "/info", can + "/files", can, folder, home + "/Trash", home] {
            rmdir(path)
        }
    }
}

/// Whether there is a file system other than that of `/tmp`, with a top that we may write to.
private let hasSharedMemory: Bool = {
    var (here, there) = (stat(), stat())
    return stat("/tmp", &here) == 0 && stat("/dev/shm", &there) == 0
        && here.st_dev != there.st_dev && access("/dev/shm", W_OK) == 0
}()
