// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import iDownView

/// The folder in which the command runs; the service does not know it and needs absolute paths.
enum WorkingFolder {
    /// Returns the path in absolute form, once its disk answers: getcwd(3).
    ///
    /// The service, which gets the path, waits for no disk as long as the user may want to.
    ///
    /// A `~` that no shell has replaced, as in `--directory=~/Music`, is the user's home: a folder
    /// with that name would be a trap.
    ///
    /// - Throws: `ValidationError` if the path is empty, or if the folder that it begins with is
    ///   unknown.
    static func absolute(_ path: String) throws -> String {
        let path = try joined(path)
        Disk.wait(for: path)
        return path
    }

    private static func joined(_ path: String) throws -> String {
        guard !path.isEmpty else {
            throw ValidationError("the folder's name is empty; for the current folder give .")
        }
        guard !path.hasPrefix("/") else { return path }
        if path == "~" || path.hasPrefix("~/") { return DesktopFolders().home + path.dropFirst() }
        guard !path.hasPrefix("~") else {
            throw ValidationError("for a folder whose name begins with ~ give ./\(CellText(path))")
        }
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
