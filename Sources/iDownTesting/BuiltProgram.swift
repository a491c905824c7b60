// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A program of this package as the build put it beside the tests.
package struct BuiltProgram: Sendable {
    /// The program is not where the tests are.
    package struct Missing: Error, CustomStringConvertible {
        package let description: String
    }

    /// An absolute path, free of links.
    package let path: String

    /// Looks in the folder of the running test program and in those above it.
    ///
    /// - Throws: ``Missing``.
    package init(_ name: String) throws(Missing) {
        guard let tests = realpath("/proc/self/exe", nil) else {
            throw Missing(description: "/proc/self/exe: \(String(cString: strerror(errno)))")
        }
        defer { free(tests) }
        let program = String(cString: tests)
        // The tests may lie deeper, in a bundle of their own.
        var folder = program[...]
        for _ in 0..<4 {
            guard let slash = folder.lastIndex(of: "/"), slash != folder.startIndex else { break }
            folder = folder[..<slash]
            let candidate = "\(folder)/\(name)"
            var status = stat()
            if stat(candidate, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
                access(candidate, X_OK) == 0
            {
                path = candidate
                return
            }
        }
        throw Missing(
            description: "no program \(name) beside \(program); build it first: swift build"
        )
    }
}
