// SPDX-License-Identifier: Apache-2.0

/// Finds the applications that open a type, as desktops do: MIME Applications Specification 1.0.
///
/// Where the specification leaves a choice, this follows GIO.
struct InstalledApplications {
    /// The groups of a `mimeapps.list`.
    enum Group: String, CaseIterable {
        case defaults = "Default Applications"
        case added = "Added Associations"
        case removed = "Removed Associations"
    }

    private let folders: DesktopFolders

    init(_ folders: DesktopFolders) { self.folders = folders }

    /// Returns the ID of the default application of a type; nil if no application opens it.
    func defaultApplication(for type: String) -> String? {
        for place in places {
            for list in place.lists {
                let ids = list.list(type, in: Group.defaults.rawValue)
                if let id = ids.first(where: isInstalled) { return id }
            }
        }
        return all(for: type).first
    }

    /// Returns the IDs of all applications of a type, the preferred first.
    ///
    /// They support the type themselves, or the user or the system added them for it.
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

    /// Whether an application has an entry and its program exists.
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

    /// The lists and the cache of a folder.
    private struct Place {
        /// The `mimeapps.list` files, those of the running desktop first.
        var lists: [KeyFile]
        /// The types that the applications in this folder support by their own entries.
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

    /// Reads a key file; nil if it does not exist or cannot be read.
    private func keyFile(_ path: String) -> KeyFile? {
        (try? TextFile.read(path)).flatMap { $0 }.map { KeyFile($0) }
    }

    /// Returns the `.desktop` file of an ID, in which each dash may mean a folder's slash.
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

    /// Returns the first word of a command line.
    private static func program(of line: String) -> String {
        guard line.hasPrefix("\"") else { return String(line.prefix { $0 != " " }) }
        return String(line.dropFirst().prefix { $0 != "\"" })
    }
}
