// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc

/// The folder in which the command was started; the service does not know it.
enum WorkingFolder {
    /// The path from `/` on: getcwd(3).
    static func absolute(_ path: String) throws -> String {
        guard !path.hasPrefix("/") else { return path }
        guard let folder = getcwd(nil, 0) else {
            throw ValidationError("the current folder is gone; give a folder from / on")
        }
        defer { free(folder) }
        let current = String(cString: folder)
        return current == "/" ? "/" + path : current + "/" + path
    }
}
