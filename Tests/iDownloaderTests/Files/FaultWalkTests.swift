// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownState
import iDownTesting
import iDownloader

/// The whole life of a file, with each call into the system failing once.
@Suite struct FaultWalkTests {
    private static let bytes = "the bytes of the file"

    /// Makes, fills, syncs and publishes a file; tells what was recorded on the way.
    private func download(
        to path: String,
        as name: String,
        _ plan: FaultPlan,
        recorded: (LocalFile) -> Void = { _ in }
    ) throws(FileError) -> LocalFile {
        let folder = try OpenFolder(path, fileSystem: FileSystem(faults: plan))
        let part = try PartFile.create(name, in: folder)
        recorded(part.file)
        try part.reserve(upTo: 4096)
        let bytes = Array(Self.bytes.utf8)
        try bytes.withUnsafeBytes { bytes in
            Result { () throws(FileError) in try part.write(bytes, at: 0) }
        }.get()
        try part.synchronizeData()
        try part.setFinalPermissions()
        part.recordOrigin(url: "https://example.org/", referrer: nil)
        try part.synchronize()
        try folder.publish(part.file, as: name)
        try folder.synchronize()
        return LocalFile(name: name, fileSystem: part.file.fileSystem, mark: part.file.mark)
    }

    @Test(
        arguments: [false, true],
        [EIO, ENOSPC, EINVAL, EPERM, EINTR, ENOENT, EEXIST]
    )
    func `a failure at any call leaves our file or none, and no one else's touched`(
        isMade: Bool,
        errno: Int32
    ) async throws {
        let calls = try await withTemporaryFolder { path throws in
            let count = FaultPlan()
            _ = try download(to: path, as: "a", count)
            return count.calls
        }
        #expect(calls > 10)
        for n in 1...calls {
            try await withTemporaryFolder { path throws in
                putFile(path + "/b")
                putFile(path + "/b.part")
                let plan = FaultPlan(failing: n, with: errno, isMade: isMade)
                var file: LocalFile?
                let final = try? download(to: path, as: "a", plan) { file = $0 }
                check(path, file, wasPublished: final != nil, "call \(n)")
                if let file { try recover(path, file, "call \(n)") }
                #expect(contents(of: path + "/b") == "somebody else's")
                #expect(contents(of: path + "/b.part") == "somebody else's")
            }
        }
    }

    /// Our inode stands under one of its two names at least, and where it is final it is whole.
    private func check(
        _ path: String,
        _ file: LocalFile?,
        wasPublished: Bool,
        _ where: Comment
    ) {
        let found = names(in: path)
        #expect(found.allSatisfy { ["a", "a.part", "b", "b.part"].contains($0) }, `where`)
        if wasPublished {
            #expect(found == ["a", "b", "b.part"], `where`)
            #expect(contents(of: path + "/a") == Self.bytes, `where`)
        } else if file != nil {
            #expect(found.contains("a") || found.contains("a.part"), `where`)
        }
    }

    /// What the next start does with the record: publish if all is there, then nothing is left.
    private func recover(_ path: String, _ file: LocalFile, _ where: Comment) throws {
        let folder = try OpenFolder(path, fileSystem: FileSystem())
        if try folder.endPublication(of: file, as: "a") != nil {
            #expect(contents(of: path + "/a") == Self.bytes, `where`)
            #expect(names(in: path) == ["a", "b", "b.part"], `where`)
        } else {
            #expect(try folder.deletePart(file), `where`)
            let left = names(in: path).filter { $0.hasPrefix("a") }
            #expect(left == [], `where`)
        }
    }
}
