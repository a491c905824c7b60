// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Testing
import iDownTesting

@testable import iDownloader

@Suite(.timeLimit(.minutes(5)))
struct DiskQueueTests {
    /// Eight calls that wait together for a lane that is busy, each with the folder opened anew.
    ///
    /// - Returns: What became of each, and how many calls the file system saw of them.
    private func syncTogether(
        failing place: Int? = nil
    ) async throws -> (failures: [FileError?], calls: Int) {
        try await withTemporaryFolder { path in
            // Opening a folder takes the same number of calls each time.
            let counting = FaultPlan()
            let folders = try (0..<8).map { _ in
                try OpenFolder(path, fileSystem: FileSystem(faults: counting))
            }
            let opening = counting.calls
            let faults = FaultPlan(failing: place.map { opening + $0 })
            let system = FileSystem(faults: faults)
            let opened = try folders.map { try OpenFolder($0.path, fileSystem: system) }

            let disk = DiskQueue()
            let door = DispatchSemaphore(value: 0)
            let hold = Task.immediate { await disk.run(key: 0, in: path) { door.wait() } }
            let calls = opened.enumerated().map { number, folder in
                Task.immediate { () -> FileError? in
                    do throws(FileError) {
                        // Even keys share a lane.
                        let key = Int64(number) * 2
                        try await disk.runSyncing(key: key, in: path) { () throws(FileError) in
                            ((), .folder(folder))
                        }
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            door.signal()
            await hold.value
            var failures: [FileError?] = []
            for call in calls { failures.append(await call.value) }
            return (failures, faults.calls - opening)
        }
    }

    @Test func `one sync of a folder serves all who wait for it`() async throws {
        let (failures, calls) = try await syncTogether()
        #expect(failures.count == 8 && failures.allSatisfy { $0 == nil })
        // Each is asked which folder it is, and one of them is synced.
        #expect(calls == 8 + 1)
    }

    @Test func `a sync that fails fails all who wait for it`() async throws {
        let (failures, _) = try await syncTogether(failing: 2)
        #expect(failures.allSatisfy { $0?.errno == EIO })
    }

    @Test func `a body that fails is answered at once, and the others all the same`() async throws {
        try await withTemporaryFolder { path in
            let folder = try OpenFolder(path, fileSystem: FileSystem())
            let disk = DiskQueue()
            await #expect(throws: FileError.self) {
                try await disk.runSyncing(key: 0, in: path) {
                    () throws(FileError) -> (Void, DiskSync?) in
                    throw FileError.vanished
                }
            }
            let value = try await disk.runSyncing(key: 0, in: path) { () throws(FileError) in
                (7, .folder(folder))
            }
            #expect(value == 7)
        }
    }

    @Test func `a file is closed on its disk's thread, not by who drops it`() async throws {
        try await withTemporaryFolder { path in
            let disk = DiskQueue()
            var folder: OpenFolder? = try await disk.run(key: 0, in: path) {
                () throws(FileError) in try OpenFolder(path, fileSystem: FileSystem())
            }
            let number = try #require(folder?.number)
            let door = DispatchSemaphore(value: 0)
            let hold = Task.immediate { await disk.run(key: 0, in: path) { door.wait() } }
            folder = nil
            #expect(try FileSystem().path(of: number) == path)
            door.signal()
            await hold.value
            // Behind it.
            await disk.run(key: 0, in: path) {}
            #expect((try? FileSystem().path(of: number)) != path)
        }
    }

    private static let list = """
        22 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw
        30 22 0:40 / /mnt/far\\040away rw shared:9 - nfs4 server:/x rw
        31 30 8:3 / /mnt/far\\040away/near rw - ext4 /dev/sda3 rw
        32 22 0:41 / /home/me/gone rw - fuse.sshfs me@host: rw
        33 22 0:42 / /home/me/gone rw - tmpfs tmpfs rw
        34 22 8:x / /odd rw - ext4 /dev/sdb1 rw
        """

    @Test func `the file system of a folder is known by the path alone`() {
        let mounts = MountTable { Array(Self.list.utf8) }
        #expect(mounts.device(of: "/mnt/far away") == 40)
        #expect(mounts.device(of: "/mnt/far away/deep/down") == 40)
        #expect(mounts.device(of: "/mnt/far away/near/x") == 8 << 32 | 3)
        // Covered by what was mounted over it.
        #expect(mounts.device(of: "/home/me/gone/x") == 42)
        #expect(mounts.device(of: "/mnt/far awayx") == 8 << 32 | 2)
        #expect(mounts.device(of: "/odd") == 8 << 32 | 2)
        #expect(MountTable { Array("what is this\n1 2 3 - nfs".utf8) }.device(of: "/") == 0)
        #expect(MountTable().device(of: "/proc") == Self.device(of: "/proc"))
    }

    private static func device(of path: String) -> UInt64 {
        var status = stat()
        stat(path, &status)
        // The parts of the number lie apart (gnu_dev_major of makedev(3)).
        let device = UInt64(status.st_dev)
        let major = device >> 8 & 0xFFF | device >> 32 & ~0xFFF
        return major << 32 | device & 0xFF | device >> 12 & ~0xFF & 0xFFFF_FFFF
    }

    @Test(.enabled("needs to mount a tmpfs") { await Privilege.canMount() })
    func `a file system that is mounted later is known at once`() async throws {
        let mounts = MountTable()
        #expect(mounts.device(of: "/proc") == Self.device(of: "/proc"))
        try await withSmallDisk(mebibytes: 1) { disk in
            #expect(mounts.device(of: disk.path) == Self.device(of: disk.path))
        }
    }

    @Test func `a file system that hangs holds up nothing but its own downloads`() async throws {
        let disk = DiskQueue(mounts: MountTable { Array(Self.list.utf8) })
        let door = DispatchSemaphore(value: 0)
        // A local disk like any other.
        let path = "/mnt/far away/near"
        let held = (0..<2).map { key in
            Task.immediate { await disk.run(key: key, in: "\(path)/a") { door.wait() } }
        }
        let folder = Task.immediate { await disk.run(key: nil, in: path) { door.wait() } }
        for key in 0..<4 as Range<Int64> {
            #expect(await disk.run(key: key, in: "/home/me") { key } == key)
        }
        #expect(await disk.run(key: nil, in: "/home/me") { true })
        // Its downloads are known to be stuck, and those elsewhere are not.
        try await soon("its downloads to be stuck") {
            disk.isStuck(in: path, isVerifying: false, for: .zero)
        }
        #expect(!disk.isStuck(in: path, isVerifying: true, for: .seconds(600)))
        try await soon("the others to be done") {
            !disk.isStuck(in: "/home/me", isVerifying: true, for: .zero)
        }
        for _ in 0..<3 { door.signal() }
        for task in held { await task.value }
        await folder.value
        try await soon("it to be done") {
            !disk.isStuck(in: path, isVerifying: true, for: .zero)
        }
        // One file that is read for its digest holds up others that are, and no bytes.
        let verified = Task.immediate { await disk.digestThread(for: path).run { door.wait() } }
        try await soon("the reading to be stuck") {
            disk.isStuck(in: path, isVerifying: true, for: .zero)
        }
        #expect(!disk.isStuck(in: path, isVerifying: false, for: .zero))
        door.signal()
        await verified.value
    }
}
