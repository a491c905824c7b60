// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Finds programs.
enum ProgramPath {
    /// Returns the path of the first program with this name in `PATH`; nil if there is none.
    ///
    /// Folders in `PATH` that are not absolute are passed over. A name with a slash is a path.
    static func find(_ name: String, in folders: [String] = []) -> String? {
        guard !name.isEmpty else { return nil }
        if name.contains("/") { return access(name, X_OK) == 0 ? name : nil }
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        let searched =
            folders + path.split(separator: ":").filter { $0.hasPrefix("/") }.map(String.init)
        return searched.lazy.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// The path of this program, with links resolved; nil where `/proc` is not mounted.
    static var own: String? { Disk.resolved("/proc/self/exe") }

    /// The folder of this program; nil where `/proc` is not mounted.
    static var ownFolder: String? {
        own.flatMap { path in path.lastIndex(of: "/").map { String(path[..<$0]) } }
    }
}
