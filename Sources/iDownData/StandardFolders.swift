// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Where things belong in a user's home: the XDG base directory specification.
///
/// A variable that is unset, empty or not absolute counts as not there.
package struct StandardFolders: Hashable, Sendable {
    package let home: String
    /// `$XDG_CONFIG_HOME`, else `~/.config`; those below likewise.
    package let configHome: String
    package let dataHome: String
    package let stateHome: String
    package let cacheHome: String
    /// `$XDG_RUNTIME_DIR`; nil where the session has none.
    package let runtime: String?
    /// The user's DOWNLOAD folder of `user-dirs.dirs`; `~/Downloads` where none is set.
    package let download: String

    /// - Parameters:
    ///   - environment: the process's variables.
    ///   - home: used where `HOME` is missing, not absolute or empty.
    package init(environment: [String: String], home: String) {
        func folder(_ variable: String) -> String? {
            guard let path = environment[variable], path.hasPrefix("/") else { return nil }
            return Self.withoutTrailingSlashes(path)
        }
        let home = folder("HOME") ?? Self.withoutTrailingSlashes(home)
        func below(_ path: String) -> String { home == "/" ? "/" + path : home + "/" + path }
        self.home = home
        self.configHome = folder("XDG_CONFIG_HOME") ?? below(".config")
        self.dataHome = folder("XDG_DATA_HOME") ?? below(".local/share")
        self.stateHome = folder("XDG_STATE_HOME") ?? below(".local/state")
        self.cacheHome = folder("XDG_CACHE_HOME") ?? below(".cache")
        self.runtime = folder("XDG_RUNTIME_DIR")
        // Nothing hangs on this file: one that cannot be read is like one that is not there.
        let list = try? Files().read(configHome + "/user-dirs.dirs", limit: 65_536)
        self.download =
            UserDirectories(content: list ?? [], home: home)["XDG_DOWNLOAD_DIR"]
            ?? below("Downloads")
    }

    /// Where the store is kept.
    package var state: String { stateHome + "/idown" }

    /// Where the settings are kept.
    package var config: String { configHome + "/idown" }

    private static func withoutTrailingSlashes(_ path: String) -> String {
        var path = path[...]
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return String(path)
    }
}

extension StandardFolders {
    /// The folders of this process's user; without `HOME`, the user database's. getpwuid(3)
    package static func current() -> StandardFolders {
        var environment: [String: String] = [:]
        let names = [
            "HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME",
            "XDG_RUNTIME_DIR",
        ]
        for name in names { environment[name] = getenv(name).map { String(cString: $0) } }
        let entry = getpwuid(getuid())
        let home = entry?.pointee.pw_dir.map { String(cString: $0) } ?? "/"
        return StandardFolders(environment: environment, home: home)
    }
}
