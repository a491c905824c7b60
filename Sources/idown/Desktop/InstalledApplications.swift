// SPDX-License-Identifier: Apache-2.0

/// Which applications open what, as desktops work it out: the MIME applications specification 1.0.
///
/// Where it leaves a choice, GIO's is taken.
struct InstalledApplications {
    /// The groups of a `mimeapps.list`.
    enum Group: String, CaseIterable {
        case defaults = "Default Applications"
        case added = "Added Associations"
        case removed = "Removed Associations"
    }

    private let folders: DesktopFolders

    init(_ folders: DesktopFolders) { self.folders = folders }

    /// What opens a type where nobody chooses; nil where nothing does.
    func standard(for type: String) -> String? {
        for place in places {
            for list in place.lists {
                let ids = list.list(type, in: Group.defaults.rawValue)
                if let id = ids.first(where: isInstalled) { return id }
            }
        }
        return all(for: type).first
    }

    /// All that say or were told that they can open a type, the preferred first.
    func all(for type: String) -> [String] {
        var found: [String] = []
        var removed: Set<String> = []
        for place in places {
            for list in place.lists {
                for id in list.list(type, in: Group.added.rawValue) where !removed.contains(id) {
                    if !found.contains(id) { found.append(id) }
                }
                removed.formUnion(list.list(type, in: Group.removed.rawValue))
            }
            for id in place.cache.list(type, in: "MIME Cache") where !removed.contains(id) {
                if !found.contains(id) { found.append(id) }
            }
        }
        return found.filter(isInstalled)
    }

    /// Whether an application is there to be started.
    func isInstalled(_ id: String) -> Bool {
        guard !id.contains("/"), let file = entry(id) else { return false }
        let group = "Desktop Entry"
        guard file.value("Hidden", in: group) != "true" else { return false }
        let programs = [
            file.value("TryExec", in: group), file.value("Exec", in: group).map(Self.program),
        ]
        return programs.compactMap(\.self).allSatisfy { ProgramPath.find($0) != nil }
    }

    // MARK: Files

    /// A folder that says something of applications.
    private struct Place {
        /// Those of the desktop itself first.
        var lists: [KeyFile]
        /// What the applications there say of themselves.
        var cache: KeyFile
    }

    private var places: [Place] {
        let configs = [folders.configHome] + folders.configFolders
        return configs.map { place(in: $0, hasCache: false) }
            + applicationFolders.map { place(in: $0, hasCache: true) }
    }

    private var applicationFolders: [String] {
        ([folders.dataHome] + folders.dataFolders).map { $0 + "/applications" }
    }

    private func place(in folder: String, hasCache: Bool) -> Place {
        let names = folders.desktops.map { $0 + "-mimeapps.list" } + ["mimeapps.list"]
        return Place(
            lists: names.compactMap { keyFile("\(folder)/\($0)") },
            cache: (hasCache ? keyFile(folder + "/mimeinfo.cache") : nil) ?? KeyFile("")
        )
    }

    /// A file that cannot be read is like one that is not there.
    private func keyFile(_ path: String) -> KeyFile? {
        (try? TextFile.read(path)).flatMap { $0 }.map { KeyFile($0) }
    }

    /// The `.desktop` file of an id, in which a dash may stand for a folder.
    private func entry(_ id: String) -> KeyFile? {
        var names = [id]
        var path = id
        while let dash = path.firstIndex(of: "-") {
            path.replaceSubrange(dash...dash, with: "/")
            names.append(path)
        }
        for folder in applicationFolders {
            for name in names {
                if let file = keyFile("\(folder)/\(name)") { return file }
            }
        }
        return nil
    }

    // MARK: Programs

    /// The first word of a command line.
    private static func program(of line: String) -> String {
        guard line.hasPrefix("\"") else { return String(line.prefix { $0 != " " }) }
        return String(line.dropFirst().prefix { $0 != "\"" })
    }
}
