// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Adds idown to the applications that desktops offer for web links under "Open With", but never as
/// the default one.
///
/// If the user never chose a default application for a type, an application that is added for the
/// type may become the default. So the present default is recorded as the user's choice, and all
/// other applications of the type are listed before idown.
struct WebHandler {
    /// The reason why nothing was changed, with advice.
    struct Refusal: Error { let description: String }

    static let types = ["x-scheme-handler/http", "x-scheme-handler/https"]

    private typealias Group = InstalledApplications.Group

    private let ownID = DesktopFolders.ownID
    private let applications: InstalledApplications
    /// The path of the user's `mimeapps.list`.
    private let path: String
    /// The path of the record of what ``enable()`` changed.
    private let recordPath: String

    init(_ folders: DesktopFolders) {
        applications = InstalledApplications(folders)
        path = folders.configHome + "/mimeapps.list"
        recordPath = folders.stateHome + "/idown/web-handler.json"
    }

    /// Whether the user's `mimeapps.list` adds idown for web links.
    func isEnabled() throws -> Bool {
        let file = KeyFile(try TextFile.read(path) ?? "")
        return Self.types.allSatisfy { file.list($0, in: Group.added.rawValue).contains(ownID) }
    }

    /// Returns the ID of the default application of a type; nil if no application opens it.
    func defaultApplication(for type: String) -> String? {
        applications.defaultApplication(for: type)
    }

    // MARK: Changing

    /// Adds idown for web links.
    ///
    /// - Throws: ``Refusal`` if no other application is the default; `TextFile.Failure`.
    func enable() throws {
        guard applications.isInstalled(ownID) else {
            throw Refusal(
                description:
                    "the desktop does not find idown's entry \(ownID); install idown where it"
                    + " looks, and check the installation with: idown doctor"
            )
        }
        let before = try TextFile.read(path)
        var file = KeyFile(before ?? "")
        for type in Self.types { try offer(type, in: &file) }
        let record = Record(before: before, after: file.text)
        try TextFile.replace(recordPath, with: try record.text, mode: 0o600)
        try TextFile.replace(path, with: file.text)
    }

    private func offer(_ type: String, in file: inout KeyFile) throws(Refusal) {
        guard let current = applications.defaultApplication(for: type), current != ownID else {
            throw Refusal(
                description: "no other program opens \(type.split(separator: "/").last ?? "") links"
                    + " by default, and idown must not become the default one; choose one first,"
                    + " for example with: xdg-settings set default-web-browser NAME.desktop"
            )
        }
        let chosen = file.list(type, in: Group.defaults.rawValue)
        if !chosen.contains(where: { $0 != ownID && applications.isInstalled($0) }) {
            file.set(type, in: Group.defaults.rawValue, to: [current] + chosen)
        }
        var added = file.list(type, in: Group.added.rawValue).filter { $0 != ownID }
        let others = [current] + applications.all(for: type)
        for other in others where other != ownID && !added.contains(other) { added.append(other) }
        file.set(type, in: Group.added.rawValue, to: added + [ownID])
        let removed = file.list(type, in: Group.removed.rawValue)
        if removed.contains(ownID) {
            file.set(type, in: Group.removed.rawValue, to: removed.filter { $0 != ownID })
        }
    }

    /// Undoes exactly what ``enable()`` did.
    ///
    /// If the list was changed since then, only its unchanged entries are restored, and idown is
    /// removed from the others.
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
        guard group != .removed, ids.contains(ownID) else { return }
        file.set(type, in: group.rawValue, to: ids.filter { $0 != ownID })
    }

    /// The text of the user's `mimeapps.list` before and after ``enable()``.
    private struct Record: Codable {
        /// Nil if the file did not exist.
        var before: String?
        var after: String

        init(before: String?, after: String) {
            self.before = before
            self.after = after
        }

        /// Reads a record; nil if it is damaged.
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
