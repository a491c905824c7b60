// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A file system that hangs, and answers again, when a test says so.
package struct HangingDisk: Sendable {
    /// The way in which it hangs.
    package enum Kind: CaseIterable, Sendable {
        /// A FUSE program is stopped (fuse(4)): no call returns.
        case stoppedProgram
        /// An ext4 image that is frozen (fsfreeze(8)): no call that writes returns.
        case frozenImage
    }

    /// The folder where it is mounted.
    package let path: String
    /// A folder that shows its files even while it hangs; nil if there is none.
    package let mirror: String?
    private let kind: Kind
    private let program: ChildProcess?

    /// The system refused to make, freeze or unfreeze the file system.
    package struct Refused: Error, CustomStringConvertible {
        package let description: String
    }

    /// Makes it hang: no call that writes to it returns from now on.
    package func hang() async throws {
        switch kind {
        case .stoppedProgram: program?.send(SIGSTOP)
        case .frozenImage: try await Self.run("fsfreeze", "--freeze", path)
        }
    }

    /// Makes it answer again.
    package func answer() async throws {
        switch kind {
        case .stoppedProgram: program?.send(SIGCONT)
        case .frozenImage: try await Self.run("fsfreeze", "--unfreeze", path)
        }
    }

    /// Returns whether this machine can mount such a file system.
    package static func canMount(_ kind: Kind) async -> Bool {
        do {
            return try await withHangingDisk(kind) { _ in true }
        } catch {
            return false
        }
    }

    fileprivate static func mount(_ kind: Kind, in folder: String) async throws -> HangingDisk {
        let point = folder + "/disk"
        mkdir(point, 0o700)
        switch kind {
        case .stoppedProgram:
            let mirror = folder + "/files"
            mkdir(mirror, 0o700)
            let program = try await ChildProcess.start(
                "/usr/bin/python3",
                ["-c", script, mirror, point]
            )
            guard await program.nextLine() == "ready" else {
                await program.waitForExit()
                throw Refused(description: program.standardError)
            }
            return HangingDisk(path: point, mirror: mirror, kind: kind, program: program)
        case .frozenImage:
            let image = folder + "/image"
            try await run("truncate", "--size=256M", image)
            try await run("mkfs.ext4", "-q", "-F", image)
            try await run("mount", "-o", "loop", image, point)
            return HangingDisk(path: point, mirror: nil, kind: kind, program: nil)
        }
    }

    fileprivate func unmount() async {
        // Fails without harm if the file system already answers.
        try? await answer()
        // Lazily, because a process may still have a file open there until it ends.
        _ = try? await ChildProcess.run("umount", ["--lazy", path])
        await program?.stop()
    }

    private static func run(_ program: String, _ arguments: String...) async throws {
        let done = try await ChildProcess.run(program, arguments)
        guard done.succeeded else { throw Refused(description: done.standardError) }
    }

    /// Serves the files of one folder at another path, one call after another.
    private static let script = """
        import errno, fuse, os, sys

        fuse.fuse_python_api = (0, 2)
        root, point = sys.argv[1:3]

        class File:
            keep_cache = direct_io = False

            def __init__(self, path, flags, *mode):
                self.number = os.open(root + path, flags & ~os.O_APPEND, *mode)

            def read(self, count, offset):
                return os.pread(self.number, count, offset)

            def write(self, data, offset):
                return os.pwrite(self.number, data, offset)

            def fgetattr(self):
                return os.fstat(self.number)

            def ftruncate(self, length):
                os.ftruncate(self.number, length)

            def fsync(self, dataOnly):
                os.fsync(self.number)

            def release(self, flags):
                os.close(self.number)

        class Disk(fuse.Fuse):
            def fsinit(self):
                print("ready", flush=True)

            def getattr(self, path):
                return os.lstat(root + path)

            def access(self, path, mode):
                return 0 if os.access(root + path, mode) else -errno.EACCES

            def mkdir(self, path, mode):
                os.mkdir(root + path, mode)

            def unlink(self, path):
                os.unlink(root + path)

            def rename(self, old, new):
                os.rename(root + old, root + new)

            def link(self, old, new):
                os.link(root + old, root + new)

            def chmod(self, path, mode):
                os.chmod(root + path, mode)

            def truncate(self, path, length):
                os.truncate(root + path, length)

            def statfs(self):
                return os.statvfs(root)

            def main(self):
                self.file_class = File
                return super().main()

        disk = Disk(dash_s_do="undef")
        disk.multithreaded = False
        disk.parse(["-f", "-o", "use_ino,big_writes", point])
        disk.main()
        """
}

/// Runs `body` with an empty file system that can hang; makes it answer and unmounts it afterwards.
package func withHangingDisk<Value>(
    _ kind: HangingDisk.Kind,
    _ body: (HangingDisk) async throws -> Value
) async throws -> Value {
    try await withTemporaryFolder { folder in
        let disk = try await HangingDisk.mount(kind, in: folder)
        let result: Result<Value, any Error>
        do { result = .success(try await body(disk)) } catch { result = .failure(error) }
        await disk.unmount()
        return try result.get()
    }
}
