// SPDX-License-Identifier: Apache-2.0

import Glibc
package import iDownState

/// A folder that a client asked for, checked but not yet made.
package struct TargetFolder: Hashable, Sendable {
    /// The part of the path that exists.
    let existing: String
    /// The names of the folders to make below `existing`.
    let missing: [String]

    /// The path of the folder with all links resolved.
    package var path: String { "/" + (Self.names(in: existing) + missing).joined(separator: "/") }
}

extension TargetFolder {
    /// Refuses a text that can be no path of a folder, without a look at any disk.
    static func checkForm(_ text: String) throws(FolderRefusal) {
        guard text.utf8.first == UInt8(ascii: "/") else {
            throw FolderRefusal("The folder must be an absolute path, one that starts with /.")
        }
        guard !text.utf8.contains(0), text.utf8.count < Int(PATH_MAX) else {
            throw FolderRefusal("The folder's path is too long or contains a zero byte.")
        }
    }

    /// Checks the path that a client gave, and makes nothing.
    ///
    /// The kernel resolves links as far as the path exists; the rest, which idown makes, has no
    /// links. The rules apply to the whole resulting path.
    init(
        _ text: String,
        rules: FolderRules,
        closed: ClosedFolders,
        fileSystem: FileSystem
    ) throws(FolderRefusal) {
        try Self.checkForm(text)
        self = try Self.resolve(text, fileSystem)
        // A closed folder may be reached through a link, and need not exist yet.
        let closed = rules.allowsEverywhere ? [] : closed.paths(of: rules.closedFolders)
        let enclosing = try rules.enclosingFolder.map { folder throws(FolderRefusal) in
            try Self.resolve(folder, fileSystem).path
        }
        try rules.judge(path, closed: closed, enclosing: enclosing)
    }

    /// Splits a path into the part that exists, with links resolved, and the folders to make.
    static func resolve(
        _ text: String,
        _ fileSystem: FileSystem
    ) throws(FolderRefusal) -> TargetFolder {
        var elements = names(in: text).filter { $0 != "." }
        var missing: [String] = []
        while true {
            let path = "/" + elements.joined(separator: "/")
            let existing: String?
            do throws(FileError) {
                existing = try fileSystem.resolve(path)
            } catch {
                throw FolderRefusal(sentence(for: error))
            }
            if let existing { return TargetFolder(existing: existing, missing: missing.reversed()) }
            guard let last = elements.popLast() else {
                throw FolderRefusal("The folder does not exist.")
            }
            guard last != ".." else {
                throw FolderRefusal(
                    "The folder's path has .. after a folder that does not exist. Leave the .. out."
                )
            }
            guard last.utf8.count <= Int(NAME_MAX) else {
                throw FolderRefusal(
                    "A name in the folder's path is longer than \(NAME_MAX) bytes. Shorten it."
                )
            }
            missing.append(last)
        }
    }

    private static func names(in path: String) -> [String] {
        FolderRules.elements(of: path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Makes the missing folders, and checks that files can be made there.
    ///
    /// Without `makes`, only the part that exists is checked. A finished `file` that is to move there
    /// has to be on the same file system.
    ///
    /// Each folder is made in the one opened before, which is none behind a link. If another program
    /// replaces a folder with a link meanwhile, this throws and makes no folder behind the link.
    package func make(
        fileSystem: FileSystem,
        for file: LocalFile? = nil,
        makes: Bool = true
    ) throws(FolderRefusal) {
        do throws(FileError) {
            var folder = try OpenFolder(existing, fileSystem: fileSystem)
            if let file, folder.isElsewhere(file) { throw .otherDrive }
            for name in makes ? missing : [] {
                let isNew = try fileSystem.makeFolder(name, in: folder.number, mode: 0o777)
                if isNew { try folder.synchronize() }
                let path = (folder.path == "/" ? "" : folder.path) + "/" + name
                folder = try OpenFolder(path, fileSystem: fileSystem)
            }
            try fileSystem.checkWritable(folder.number)
        } catch {
            throw FolderRefusal(Self.sentence(for: error))
        }
    }

    private static func sentence(for error: FileError) -> String {
        switch error {
        case .folderMoved, .system(ENOTDIR, _), .system(ELOOP, _):
            "The path does not lead to a folder. Choose a folder."
        case .system(EACCES, _), .system(EPERM, _):
            "You may not write into the folder. Choose another, or change its permissions."
        case .otherDrive: "A finished file stays on its file system. Choose a folder there."
        case .system, .nameTaken, .vanished, .folderMissing, .notOurs, .shortened:
            "The folder cannot be used. \(error.failure.message)"
        }
    }
}
