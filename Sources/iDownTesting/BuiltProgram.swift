// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A program of this package, found where the build put it beside the tests.
package struct BuiltProgram: Sendable {
    /// The program is not in the folder of the tests or in one above.
    package struct Missing: Error, CustomStringConvertible {
        package let description: String
    }

    /// The absolute path, without symbolic links.
    package let path: String

    /// Finds a program in the folder of the running test program or in one above it.
    ///
    /// - Throws: ``Missing``.
    package init(_ name: String) throws(Missing) {
        guard let tests = realpath("/proc/self/exe", nil) else {
            throw Missing(description: "/proc/self/exe: \(String(cString: strerror(errno)))")
        }
        defer { free(tests) }
        let program = String(cString: tests)
        // The test program may be in a bundle, in a deeper folder than the programs.
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
