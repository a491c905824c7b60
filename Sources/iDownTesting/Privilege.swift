// SPDX-License-Identifier: Apache-2.0

/// Rights that only root has, and not on every machine: a test that needs one asks first, and is
/// skipped without it.
package enum Privilege {
    /// Returns whether this process can mount file systems.
    package static func canMount() async -> Bool {
        await withTemporaryFolder { folder in
            guard await succeeds("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]) else {
                return false
            }
            return await succeeds("umount", [folder])
        }
    }

    /// Returns whether this process can start a program in a network namespace of its own.
    package static func canUnshareNetwork() async -> Bool {
        await succeeds("unshare", ["--net", "ip", "link", "set", "lo", "up"])
    }

    private static func succeeds(_ program: String, _ arguments: [String]) async -> Bool {
        (try? await ChildProcess.run(program, arguments))?.succeeded ?? false
    }
}

/// Runs `body` with an empty tmpfs of this many MiB, and unmounts it afterwards.
package func withSmallDisk<Value>(
    mebibytes: Int,
    _ body: (SmallDisk) async throws -> Value
) async throws -> Value {
    try await withTemporaryFolder { folder in
        let disk = SmallDisk(path: folder)
        try await disk.mount("size=\(mebibytes)m,mode=0700")
        let result: Result<Value, any Error>
        do { result = .success(try await body(disk)) } catch { result = .failure(error) }
        // Lazily, because a process may still have a file open there until it ends.
        _ = try await ChildProcess.run("umount", ["--lazy", folder])
        return try result.get()
    }
}

/// Runs `body` while a folder has the path `second` too, and takes the second one away afterwards.
package func withSecondMount<Value>(
    of folder: String,
    at second: String,
    _ body: () async throws -> Value
) async throws -> Value {
    let done = try await ChildProcess.run("mount", ["--bind", folder, second])
    guard done.succeeded else { throw SmallDisk.Refused(description: "mount --bind") }
    let result: Result<Value, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    _ = try await ChildProcess.run("umount", ["--lazy", second])
    return try result.get()
}

/// A small file system that a test can fill and make larger.
package struct SmallDisk: Sendable {
    /// The folder where it is mounted.
    package let path: String

    /// The system refused to mount or resize the file system.
    package struct Refused: Error, CustomStringConvertible {
        package let description: String
    }

    /// Changes its size.
    package func resize(mebibytes: Int) async throws {
        try await mount("remount,size=\(mebibytes)m")
    }

    fileprivate func mount(_ options: String) async throws {
        let done = try await ChildProcess.run(
            "mount",
            ["-t", "tmpfs", "-o", options, "tmpfs", path]
        )
        guard done.succeeded else { throw Refused(description: done.standardError) }
    }
}
