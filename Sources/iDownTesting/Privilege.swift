// SPDX-License-Identifier: Apache-2.0

/// What only root may do, and not everywhere: a test that needs it asks first, and is counted as
/// skipped where it may not.
package enum Privilege {
    /// Whether file systems can be mounted.
    package static func canMount() async -> Bool {
        await withTemporaryFolder { folder in
            guard await succeeds("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]) else {
                return false
            }
            return await succeeds("umount", [folder])
        }
    }

    /// Whether a program can be given a network of its own.
    package static func canUnshareNetwork() async -> Bool {
        await succeeds("unshare", ["--net", "ip", "link", "set", "lo", "up"])
    }

    private static func succeeds(_ program: String, _ arguments: [String]) async -> Bool {
        (try? await ChildProcess.run(program, arguments))?.succeeded ?? false
    }
}

/// Runs `body` with the path of an empty tmpfs of so many MiB, which is unmounted afterwards.
package func withSmallDisk<Value>(
    mebibytes: Int,
    _ body: (SmallDisk) async throws -> Value
) async throws -> Value {
    try await withTemporaryFolder { folder in
        let disk = SmallDisk(path: folder)
        try await disk.mount("size=\(mebibytes)m,mode=0700")
        let result: Result<Value, any Error>
        do { result = .success(try await body(disk)) } catch { result = .failure(error) }
        // Whatever still holds a file there lets go of it when it ends.
        _ = try await ChildProcess.run("umount", ["--lazy", folder])
        return try result.get()
    }
}

/// A file system that is full soon, and can grow.
package struct SmallDisk: Sendable {
    /// Where it is mounted.
    package let path: String

    /// The system refused.
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
