// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The entry by which the session starts the service at login: Desktop Application Autostart
/// Specification.
///
/// If several folders have an entry of this name, the one in the most important folder decides.
/// That is the user's own folder.
struct AutostartEntry {
    /// The path of the user's entry.
    private let ownPath: String
    /// The paths of the system's entries, the most important first.
    private let systemPaths: [String]

    private static let group = "Desktop Entry"
    private static let hidden = "Hidden"
    /// The key by which GNOME switches an entry off.
    private static let gnomeEnabled = "X-GNOME-Autostart-enabled"
    /// The key that marks a user's entry as a copy that only switches the system's entry on or off.
    private static let overrideMark = "X-idown-Override"

    init(_ folders: DesktopFolders) {
        let name = "/autostart/" + DesktopFolders.ownID
        ownPath = folders.configHome + name
        systemPaths = folders.configFolders.map { $0 + name }
    }

    /// Returns the entry that decides; nil if there is none.
    func effective() throws(TextFile.Failure) -> (path: String, isEnabled: Bool)? {
        let mine = try read(ownPath)
        let found = mine == nil ? try system() : mine
        return found.map { ($0.path, Self.isOn($0.file)) }
    }

    /// Changes whether the service starts at login, for this user only.
    func set(_ isOn: Bool) throws(TextFile.Failure) {
        let system = try system()
        if var (_, file) = try read(ownPath) {
            if isOn, file.value(Self.overrideMark, in: Self.group) == "true", let system,
                Self.isOn(system.file)
            {
                return try TextFile.replace(ownPath, with: nil)
            }
            guard Self.isOn(file) != isOn else { return }
            Self.setEnabled(isOn, in: &file)
            return try TextFile.replace(ownPath, with: file.text)
        }
        if var (_, file) = system {
            guard Self.isOn(file) != isOn else { return }
            Self.setEnabled(isOn, in: &file)
            file.set(Self.overrideMark, in: Self.group, to: "true")
            return try TextFile.replace(ownPath, with: file.text)
        }
        guard isOn else { return }
        try TextFile.replace(ownPath, with: try Self.newEntry())
    }

    private func system() throws(TextFile.Failure) -> (path: String, file: KeyFile)? {
        for path in systemPaths {
            if let found = try read(path) { return found }
        }
        return nil
    }

    private func read(_ path: String) throws(TextFile.Failure) -> (path: String, file: KeyFile)? {
        try TextFile.read(path).map { (path, KeyFile($0)) }
    }

    private static func isOn(_ file: KeyFile) -> Bool {
        file.value(hidden, in: group) != "true" && file.value(gnomeEnabled, in: group) != "false"
    }

    private static func setEnabled(_ isOn: Bool, in file: inout KeyFile) {
        file.set(hidden, in: group, to: isOn ? "false" : "true")
        if isOn, file.value(gnomeEnabled, in: group) != nil {
            file.set(gnomeEnabled, in: group, to: "true")
        }
    }

    /// Returns a new entry, for when the system has none.
    ///
    /// Its command calls the service, which D-Bus then starts.
    private static func newEntry() throws(TextFile.Failure) -> String {
        guard let program = ProgramPath.own else { throw TextFile.Failure("/proc/self/exe") }
        // These characters would have to be escaped twice in an entry.
        guard !program.contains(where: { "\"'\\`$%\n".contains($0) }) else {
            throw TextFile.Failure(
                program,
                "an autostart entry cannot run a path with quotes, `, \\, $, % or a line feed"
            )
        }
        return """
            [Desktop Entry]
            Type=Application
            Version=1.4
            Name=idown
            Comment=Go on with unfinished downloads
            Exec="\(program)" start-all --if-pending
            Icon=org.idown.Manager1
            Terminal=false
            NoDisplay=true
            StartupNotify=false

            """
    }
}
