// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Runs `body` with the path of a fresh, empty folder (0700), which is removed afterwards with
/// all that it holds, also when `body` throws.
///
/// The path is absolute and free of links. Traps where no folder can be made: on such a machine
/// no test can run, and a thrown error would force `try` on bodies that cannot fail.
///
/// - Parameters:
///   - parent: where it is made; nil takes `$TMPDIR`, else `/tmp`.
///   - body: gets its path.
/// - Returns: what `body` returns.
package func withTemporaryFolder<R>(
    in parent: String? = nil,
    _ body: (String) async throws -> R
) async rethrows -> R {
    let path = makeTemporaryFolder(in: parent)
    defer { removeTree(path) }
    return try await body(path)
}

/// mkdtemp(3), which writes the name that it has chosen into its argument: hence the copy.
private func makeTemporaryFolder(in folder: String?) -> String {
    let parent = folder ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    let template = strdup("\(parent)/idown-test-XXXXXX")
    defer { free(template) }
    guard let template, let made = mkdtemp(template), let resolved = realpath(made, nil) else {
        preconditionFailure("no temporary folder below \(parent): errno \(errno)")
    }
    defer { free(resolved) }
    return String(cString: resolved)
}

/// Removes a file, or a folder with all below it; links are removed, never followed.
private func removeTree(_ path: String) {
    if unlink(path) == 0 { return }
    // A test may have taken away the rights that are needed to look inside.
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
