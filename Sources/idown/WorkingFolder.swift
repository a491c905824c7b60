// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc

/// The folder in which the command runs; the service does not know it and needs absolute paths.
enum WorkingFolder {
    /// Returns the path in absolute form: getcwd(3).
    ///
    /// - Throws: `ValidationError` if the path is empty, or if the current folder is unknown.
    static func absolute(_ path: String) throws -> String {
        guard !path.isEmpty else {
            throw ValidationError("the folder's name is empty; for the current folder give .")
        }
        guard !path.hasPrefix("/") else { return path }
        guard let folder = getcwd(nil, 0) else {
            throw ValidationError(
                "the current folder was deleted; give an absolute path, which begins with /"
            )
        }
        defer { free(folder) }
        guard let current = String(validatingCString: folder) else {
            throw ValidationError(
                "the current folder's path is not UTF-8; give an absolute path, which begins with /"
            )
        }
        return current == "/" ? "/" + path : current + "/" + path
    }
}
