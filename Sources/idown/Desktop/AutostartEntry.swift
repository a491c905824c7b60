// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Whether the session starts the service at login: the desktop application autostart
/// specification.
///
/// Of the entries with one name that of the most important folder counts, which is the user's.
struct AutostartEntry {
    private let own: String
    private let others: [String]

    private static let group = "Desktop Entry"
    private static let hidden = "Hidden"
    /// GNOME's switch in an entry.
    private static let gnome = "X-GNOME-Autostart-enabled"
    /// Marks a user's entry that only says otherwise than the system's.
    private static let override = "X-idown-Override"

    init(_ folders: DesktopFolders) {
        let name = "/autostart/" + DesktopFolders.ownID
        own = folders.configHome + name
        others = folders.configFolders.map { $0 + name }
    }

    /// The entry that counts; nil where there is none.
    func effective() throws(TextFile.Failure) -> (path: String, isEnabled: Bool)? {
        let mine = try read(own)
        let found = mine == nil ? try system() : mine
        return found.map { ($0.path, Self.isOn($0.file)) }
    }

    /// Changes what counts for this user.
    func set(_ isOn: Bool) throws(TextFile.Failure) {
        let system = try system()
        if var (_, file) = try read(own) {
            if isOn, file.value(Self.override, in: Self.group) == "true", let system,
                Self.isOn(system.file)
            {
                return try TextFile.replace(own, with: nil)
            }
            guard Self.isOn(file) != isOn else { return }
            Self.turn(&file, isOn)
            return try TextFile.replace(own, with: file.text)
        }
        if var (_, file) = system {
            guard Self.isOn(file) != isOn else { return }
            Self.turn(&file, isOn)
            file.set(Self.override, in: Self.group, to: "true")
            return try TextFile.replace(own, with: file.text)
        }
        guard isOn else { return }
        try TextFile.replace(own, with: try Self.freshEntry())
    }

    private func system() throws(TextFile.Failure) -> (path: String, file: KeyFile)? {
        for path in others {
            if let found = try read(path) { return found }
        }
        return nil
    }

    private func read(_ path: String) throws(TextFile.Failure) -> (path: String, file: KeyFile)? {
        try TextFile.read(path).map { (path, KeyFile($0)) }
    }

    private static func isOn(_ file: KeyFile) -> Bool {
        file.value(hidden, in: group) != "true" && file.value(gnome, in: group) != "false"
    }

    private static func turn(_ file: inout KeyFile, _ isOn: Bool) {
        file.set(hidden, in: group, to: isOn ? "false" : "true")
        if isOn, file.value(gnome, in: group) != nil { file.set(gnome, in: group, to: "true") }
    }

    /// For where none is installed; it only pokes the service, which D-Bus starts.
    private static func freshEntry() throws(TextFile.Failure) -> String {
        guard let program = ProgramPath.own else { throw TextFile.Failure("/proc/self/exe") }
        // What the entry's quoting would have to escape twice.
        guard !program.contains(where: { "\"'\\`$%\n".contains($0) }) else {
            throw TextFile.Failure(program, "a path with quotes, \\, $ or % starts no entry")
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
