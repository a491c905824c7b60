// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The folders with the desktop's configuration and data: XDG Base Directory Specification.
///
/// A variable that is unset, empty or not an absolute path is replaced by its default.
struct DesktopFolders {
    /// The user's home.
    let home: String
    let configHome: String
    /// The system's configuration folders, the most important first.
    let configFolders: [String]
    let dataHome: String
    /// The system's data folders, the most important first.
    let dataFolders: [String]
    let stateHome: String
    /// The names of the running desktop, `$XDG_CURRENT_DESKTOP`, in lower case.
    let desktops: [String]

    /// The ID of this program's `.desktop` file.
    static let ownID = "org.idown.Manager1.desktop"

    /// Reads the environment of this process.
    init() {
        home = Self.variable("HOME") ?? Self.homeOfUser
        configHome = Self.folder("XDG_CONFIG_HOME") ?? home + "/.config"
        configFolders = Self.folders("XDG_CONFIG_DIRS", else: ["/etc/xdg"])
        dataHome = Self.folder("XDG_DATA_HOME") ?? home + "/.local/share"
        dataFolders = Self.folders("XDG_DATA_DIRS", else: ["/usr/local/share", "/usr/share"])
        stateHome = Self.folder("XDG_STATE_HOME") ?? home + "/.local/state"
        desktops = (Self.variable("XDG_CURRENT_DESKTOP") ?? "").lowercased()
            .split(separator: ":").map(String.init)
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name).map({ String(cString: $0) }) else { return nil }
        return value.isEmpty ? nil : value
    }

    private static func folder(_ name: String) -> String? {
        variable(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    private static func folders(_ name: String, else usual: [String]) -> [String] {
        let given = (variable(name) ?? "").split(separator: ":").map(String.init)
            .filter { $0.hasPrefix("/") }
        return given.isEmpty ? usual : given
    }

    private static var homeOfUser: String {
        getpwuid(getuid())?.pointee.pw_dir.map { String(cString: $0) } ?? "/"
    }

    /// Returns the names in a folder that do not begin with a dot, in order: readdir(3).
    static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }
}
