// SPDX-License-Identifier: Apache-2.0

/// Why no files may be put into a folder: the contract's `InvalidDestination`.
package struct FolderRefusal: Error, Hashable, Sendable {
    /// What was wrong and what would be right, for people.
    package let message: String

    package init(_ message: String) { self.message = message }
}

/// Where files from the network may be put.
///
/// A file in `~/.config/autostart` runs at the next login, one in `~/.local/bin` perhaps at once:
/// folders that programs read by themselves are closed to whatever comes from the network.
package struct FolderRules: Hashable, Sendable {
    /// Folders that stay closed with all below them: XDG's config, data, state, cache and runtime
    /// folders.
    package var closedFolders: [String]
    /// The only folder, with all below it, that is open; nil for no such limit.
    package var enclosingFolder: String?
    /// The user's settings open everything.
    package var allowsEverywhere: Bool

    package init(closedFolders: [String] = [], allowsEverywhere: Bool = false) {
        self.closedFolders = closedFolders
        self.allowsEverywhere = allowsEverywhere
    }

    /// Judges a path that is absolute and free of links.
    ///
    /// - Parameters:
    ///   - path: the path of the folder.
    ///   - closed: the closed folders, as they are written and with their links resolved.
    ///   - enclosing: the enclosing folder with its links resolved.
    /// - Throws: the refusal, with its reason.
    func judge(
        _ path: String,
        closed: [String],
        enclosing: String? = nil
    ) throws(FolderRefusal) {
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

    /// The names in a path as the kernel reads it: to a String an accent behind a slash is no slash
    /// any more, and two spellings of one text are one.
    static func elements(of path: String) -> [[UInt8]] {
        path.utf8.split(separator: UInt8(ascii: "/")).map(Array.init)
    }
}
