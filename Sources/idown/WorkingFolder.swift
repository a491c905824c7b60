// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc

/// The folder in which the command was started; the service does not know it.
enum WorkingFolder {
    /// The path from `/` on: getcwd(3).
    static func absolute(_ path: String) throws -> String {
        guard !path.isEmpty else { throw ValidationError("a folder has a name; . is this one") }
        guard !path.hasPrefix("/") else { return path }
        guard let folder = getcwd(nil, 0) else {
            throw ValidationError("the current folder is gone; give a folder from / on")
        }
        defer { free(folder) }
        guard let current = String(validatingCString: folder) else {
            throw ValidationError(
                "the current folder's name is no text in UTF-8; give a folder from / on"
            )
        }
        return current == "/" ? "/" + path : current + "/" + path
    }
}
