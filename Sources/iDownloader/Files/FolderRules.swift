// SPDX-License-Identifier: Apache-2.0

/// Why a folder is refused as a target: the contract's `InvalidDestination`.
package struct FolderRefusal: Error, Hashable, Sendable {
    /// What is wrong and what would be right, for people.
    package let message: String

    package init(_ message: String) { self.message = message }

    /// Returns the refusal with the folder's path before it, unless the path is too long to be read.
    package func naming(_ path: String) -> FolderRefusal {
        path.utf8.count > 1024 ? self : FolderRefusal("\(path): \(message)")
    }
}

/// The rules for folders in which files from the network may be put.
///
/// A file in `~/.config/autostart` runs at the next login, and a file in `~/.local/bin` as soon as
/// its name is used as a command. Folders that programs read by themselves are therefore closed to
/// downloads.
package struct FolderRules: Hashable, Sendable {
    /// The folders in which, and below which, no file is put: XDG's config, data, state, cache and
    /// runtime folders.
    package var closedFolders: [String]
    /// The only folder in which, or below which, files may be put; nil for no such limit.
    package var enclosingFolder: String?
    /// Whether the user's settings allow all folders, closed and hidden ones too.
    package var allowsEverywhere: Bool

    package init(closedFolders: [String] = [], allowsEverywhere: Bool = false) {
        self.closedFolders = closedFolders
        self.allowsEverywhere = allowsEverywhere
    }

    /// Checks an absolute path that contains no links.
    ///
    /// - Parameters:
    ///   - path: the path of the folder.
    ///   - closed: the closed folders, both as written and with links resolved.
    ///   - enclosing: the enclosing folder with its links resolved.
    /// - Throws: the refusal, with its reason.
    func judge(_ path: String, closed: [String], enclosing: String? = nil) throws(FolderRefusal) {
        let elements = Self.elements(of: path)
        if let enclosing, !elements.starts(with: Self.elements(of: enclosing)) {
            throw FolderRefusal(
                "The folder is outside of DownloadDirectory. A sandboxed application may only use"
                    + " folders inside it."
            )
        }
        guard !allowsEverywhere else { return }
        guard !elements.contains(where: { $0.first == UInt8(ascii: ".") }) else {
            throw FolderRefusal(
                "The folder is hidden or inside a hidden folder. Choose one whose path has no name"
                    + " that starts with a dot."
            )
        }
        for folder in closed where elements.starts(with: Self.elements(of: folder)) {
            throw FolderRefusal(
                "The folder holds settings or data of programs. Choose a folder for documents."
            )
        }
    }

    /// Returns the names in a path, split by bytes as the kernel does.
    ///
    /// A String would join a slash and a combining accent to one character, and would compare two
    /// spellings of one text as equal.
    static func elements(of path: String) -> [[UInt8]] {
        path.utf8.split(separator: UInt8(ascii: "/")).map(Array.init)
    }
}
