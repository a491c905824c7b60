// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Runs `body` with the path of a new, empty folder (0700), and removes the folder with all its
/// content afterwards, even if `body` throws.
///
/// The path is absolute and has no symbolic links. It traps if no folder can be made: no test can
/// run then, and a thrown error would force `try` on bodies that cannot fail.
///
/// - Parameters:
///   - parent: The parent folder; nil takes `$TMPDIR`, or else `/tmp`.
///   - body: Gets the folder's path.
/// - Returns: What `body` returns.
package func withTemporaryFolder<R>(
    in parent: String? = nil,
    _ body: (String) async throws -> R
) async rethrows -> R {
    let path = makeTemporaryFolder(in: parent)
    defer { removeTree(path) }
    return try await body(path)
}

/// Runs `body` in an empty folder, in memory where that is possible: for what needs no real disk.
package func withMemoryFolder<R>(_ body: (String) async throws -> R) async rethrows -> R {
    let memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : nil
    return try await withTemporaryFolder(in: memory, body)
}

/// Runs `body` in the given folder, or in a temporary one if it is nil.
package func withGivenFolder<R>(
    _ folder: String?,
    _ body: (String) async throws -> R
) async rethrows -> R {
    guard let folder else { return try await withTemporaryFolder(body) }
    return try await body(folder)
}

/// Makes the folder; the path is copied because mkdtemp(3) writes the name into its argument.
func makeTemporaryFolder(in folder: String?) -> String {
    let parent = folder ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    let template = strdup("\(parent)/idown-test-XXXXXX")
    defer { free(template) }
    guard let template, let made = mkdtemp(template), let resolved = realpath(made, nil) else {
        preconditionFailure("no temporary folder below \(parent): errno \(errno)")
    }
    defer { free(resolved) }
    return String(cString: resolved)
}

/// Removes a file, or a folder with its content; symbolic links are removed, not followed.
func removeTree(_ path: String) {
    if unlink(path) == 0 { return }
    // A test may have removed the permissions that are needed to list the folder.
    chmod(path, 0o700)
    guard let stream = opendir(path) else { return }
    while let entry = readdir(stream) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name != ".", name != ".." { removeTree("\(path)/\(name)") }
    }
    closedir(stream)
    rmdir(path)
}
