// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The standard folders of a user: the XDG base directory specification.
///
/// A variable that is empty or not an absolute path counts as unset.
package struct StandardFolders: Hashable, Sendable {
    package let home: String
    /// `$XDG_CONFIG_HOME`, or else `~/.config`; the folders below follow the same rule.
    package let configHome: String
    package let dataHome: String
    package let stateHome: String
    package let cacheHome: String
    /// `$XDG_RUNTIME_DIR`; nil where the variable is unset.
    package let runtime: String?
    /// The path of `user-dirs.dirs`.
    package let userDirectories: String
    /// The download folder that `user-dirs.dirs` sets, or else `~/Downloads`.
    package let download: String

    /// - Parameters:
    ///   - environment: the process's environment variables.
    ///   - home: the home folder, used where `HOME` is missing, empty or not absolute.
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
        // If the file cannot be read, it is ignored like a missing one.
        userDirectories = configHome + "/user-dirs.dirs"
        let list = try? Files().read(userDirectories, limit: 65_536)
        self.download =
            UserDirectories(content: list ?? [], home: home)["XDG_DOWNLOAD_DIR"]
            ?? below("Downloads")
    }

    /// The folder of the store.
    package var state: String { stateHome + "/idown" }

    /// The folder of the settings file.
    package var config: String { configHome + "/idown" }

    private static func withoutTrailingSlashes(_ path: String) -> String {
        var path = path[...]
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return String(path)
    }
}

extension StandardFolders {
    /// Returns the folders of this process's user; without `HOME`, the home folder comes from the
    /// user database: getpwuid(3).
    package static func current() -> StandardFolders {
        var environment: [String: String] = [:]
        for name in names { environment[name] = getenv(name).map { String(cString: $0) } }
        let entry = getpwuid(getuid())
        let home = entry?.pointee.pw_dir.map { String(cString: $0) } ?? "/"
        return StandardFolders(environment: environment, home: home)
    }

    /// The environment variable whose path is not UTF-8; nil where there is none.
    ///
    /// Read as text, such a path would be that of another folder.
    package static var unreadableVariable: String? {
        names.first { name in getenv(name).map { String(validatingCString: $0) == nil } ?? false }
    }

    private static let names = [
        "HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME",
        "XDG_RUNTIME_DIR",
    ]
}
