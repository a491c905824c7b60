// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Whether desktops offer idown for web links, under "Open With", and never by themselves.
///
/// An application that is added for a type may become its standard one where the user never chose
/// any. So the present standard is written down as the user's choice, and all others that are there
/// are put before idown.
struct WebHandler {
    /// Why nothing was changed.
    struct Refusal: Error { let description: String }

    static let types = ["x-scheme-handler/http", "x-scheme-handler/https"]

    private typealias Group = InstalledApplications.Group

    private let own = DesktopFolders.ownID
    private let applications: InstalledApplications
    private let path: String
    private let recordPath: String

    init(_ folders: DesktopFolders) {
        applications = InstalledApplications(folders)
        path = folders.configHome + "/mimeapps.list"
        recordPath = folders.stateHome + "/idown/web-handler.json"
    }

    /// Whether idown stands among the applications for web links in the user's own list.
    func isEnabled() throws -> Bool {
        let file = KeyFile(try TextFile.read(path) ?? "")
        return Self.types.allSatisfy { file.list($0, in: Group.added.rawValue).contains(own) }
    }

    /// What opens web links of a type without being chosen.
    func standard(for type: String) -> String? { applications.standard(for: type) }

    // MARK: Changing

    /// Adds idown for web links.
    ///
    /// - Throws: ``Refusal`` where no other program is the standard one; `TextFile.Failure`.
    func enable() throws {
        guard applications.isInstalled(own) else {
            throw Refusal(description: "idown is not installed where the desktop finds it (\(own))")
        }
        let before = try TextFile.read(path)
        var file = KeyFile(before ?? "")
        for type in Self.types { try offer(type, in: &file) }
        let record = Record(before: before, after: file.text)
        try TextFile.replace(recordPath, with: try record.text, mode: 0o600)
        try TextFile.replace(path, with: file.text)
    }

    private func offer(_ type: String, in file: inout KeyFile) throws(Refusal) {
        guard let standard = applications.standard(for: type), standard != own else {
            throw Refusal(
                description: "no other program opens \(type.split(separator: "/").last ?? "") links"
                    + " by default, and idown is not to become a web browser; choose one first,"
                    + " for example with: xdg-settings set default-web-browser NAME.desktop"
            )
        }
        let chosen = file.list(type, in: Group.defaults.rawValue)
        if !chosen.contains(where: { $0 != own && applications.isInstalled($0) }) {
            file.set(type, in: Group.defaults.rawValue, to: [standard] + chosen)
        }
        var added = file.list(type, in: Group.added.rawValue).filter { $0 != own }
        let others = [standard] + applications.all(for: type)
        for other in others where other != own && !added.contains(other) { added.append(other) }
        file.set(type, in: Group.added.rawValue, to: added + [own])
        let removed = file.list(type, in: Group.removed.rawValue)
        if removed.contains(own) {
            file.set(type, in: Group.removed.rawValue, to: removed.filter { $0 != own })
        }
    }

    /// Takes back what ``enable()`` did, and nothing else.
    ///
    /// Where the list has changed since, each of its entries is taken back that has not.
    func disable() throws {
        let now = try TextFile.read(path)
        let record = try TextFile.read(recordPath).flatMap { Record($0) }
        if let record, now == record.after {
            try TextFile.replace(path, with: record.before)
        } else if let now {
            var file = KeyFile(now)
            for type in Self.types {
                for group in Group.allCases { restore(type, group, record, in: &file) }
            }
            if file.text != now { try TextFile.replace(path, with: file.text) }
        }
        try TextFile.replace(recordPath, with: nil)
    }

    private func restore(
        _ type: String,
        _ group: Group,
        _ record: Record?,
        in file: inout KeyFile
    ) {
        let now = file.value(type, in: group.rawValue)
        if let record {
            let before = KeyFile(record.before ?? "").value(type, in: group.rawValue)
            let after = KeyFile(record.after).value(type, in: group.rawValue)
            if now == after {
                if before != after { file.set(type, in: group.rawValue, to: before) }
                return
            }
        }
        let ids = file.list(type, in: group.rawValue)
        guard group != .removed, ids.contains(own) else { return }
        file.set(type, in: group.rawValue, to: ids.filter { $0 != own })
    }

    /// The user's list before and after it was changed.
    private struct Record: Codable {
        /// Nil where there was none.
        var before: String?
        var after: String

        init(before: String?, after: String) {
            self.before = before
            self.after = after
        }

        /// A record that cannot be read is like one that is not there.
        init?(_ text: String) {
            guard let record = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else {
                return nil
            }
            self = record
        }

        var text: String {
            get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
        }
    }
}
