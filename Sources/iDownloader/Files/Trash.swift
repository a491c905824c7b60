// SPDX-License-Identifier: Apache-2.0

import Glibc
package import iDownState

/// The trash of the user, by the freedesktop.org Trash specification 1.0.
///
/// A file is moved to a trash on its own file system: the home's, else `.Trash/<uid>` or
/// `.Trash-<uid>` at the top of that file system. Calls block.
package struct Trash: Sendable {
    private let fileSystem: FileSystem
    private let dataHome: String
    private let user = geteuid()

    /// - Parameters:
    ///   - dataHome: `$XDG_DATA_HOME`.
    ///   - fileSystem: makes the system calls.
    package init(dataHome: String, fileSystem: FileSystem) {
        self.dataHome = dataHome
        self.fileSystem = fileSystem
    }

    /// Moves a finished file into the trash if it is the one that idown made.
    ///
    /// - Parameters:
    ///   - file: the file, which has its final name.
    ///   - directory: the recorded path of its folder.
    ///   - time: the time of deletion, in seconds since the epoch.
    /// - Returns: false if no such file was there; then nothing was moved.
    /// - Throws: if no trash takes the file, which then stays where it is.
    @discardableResult
    package func put(
        _ file: LocalFile,
        from directory: String,
        at time: Int
    ) throws(FileError) -> Bool {
        let folder: OpenFolder
        do throws(FileError) {
            folder = try OpenFolder(directory, fileSystem: fileSystem)
        } catch {
            guard error.isGone else { throw error }
            return false
        }
        guard let status = try folder.status(of: file.name, as: file) else { return false }
        let can = try can(for: folder, on: status.identity.device)
        let path = (directory == "/" ? "" : directory) + "/" + file.name
        let name = try can.reserve(file.name, info: Self.info(path: can.shown(path), time: time))
        do throws(FileError) {
            try folder.move(file.name, to: name, in: can.files)
        } catch {
            can.giveBack(name)
            throw error
        }
        try can.files.synchronize()
        try folder.synchronize()
        return true
    }

    // MARK: Choice of the trash

    private func can(for folder: OpenFolder, on device: UInt64) throws(FileError) -> TrashCan {
        let home = dataHome + "/Trash"
        try makeFolders(home)
        guard let path = try fileSystem.resolve(home),
            let status = try fileSystem.status(of: path, in: AT_FDCWD)
        else { throw .vanished }
        // If the home is on the same file system, only its trash is used, even if that fails.
        guard status.identity.device != device else {
            return try TrashCan(path, top: nil, fileSystem: fileSystem)
        }
        let top = try top(of: folder.path, on: device)
        let prefix = top == "/" ? "" : top
        // An administrator made this trash for all users; it must have the sticky bit and be no
        // link.
        if let common = try fileSystem.status(of: prefix + "/.Trash", in: AT_FDCWD),
            common.isFolder, common.mode & S_ISVTX != 0,
            let own = try? own(prefix + "/.Trash/\(user)")
        {
            return try TrashCan(own, top: top, fileSystem: fileSystem)
        }
        return try TrashCan(try own(prefix + "/.Trash-\(user)"), top: top, fileSystem: fileSystem)
    }

    /// Returns the topmost folder of the same file system.
    private func top(of path: String, on device: UInt64) throws(FileError) -> String {
        var top = path
        while top != "/", let slash = top.lastIndex(of: "/") {
            let parent = slash == top.startIndex ? "/" : String(top[..<slash])
            guard try fileSystem.status(of: parent, in: AT_FDCWD)?.identity.device == device
            else { break }
            top = parent
        }
        return top
    }

    /// Makes the folder if it is missing; throws `notOurs` if another user owns it.
    private func own(_ path: String) throws(FileError) -> String {
        _ = try fileSystem.makeFolder(path, in: AT_FDCWD, mode: 0o700)
        guard let status = try fileSystem.status(of: path, in: AT_FDCWD), status.isFolder,
            status.owner == user
        else { throw .notOurs }
        return path
    }

    private func makeFolders(_ path: String) throws(FileError) {
        var made = ""
        for element in path.split(separator: "/") {
            made += "/" + element
            if try fileSystem.status(of: made, in: AT_FDCWD) == nil {
                _ = try fileSystem.makeFolder(made, in: AT_FDCWD, mode: 0o700)
            }
        }
    }

    // MARK: Information about a file

    /// Returns the content of a `.trashinfo` file; the date is in local time, as the specification
    /// demands.
    private static func info(path: String, time: time_t) -> String {
        var (time, parts) = (time, tm())
        localtime_r(&time, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let count = strftime(&text, text.count, "%Y-%m-%dT%H:%M:%S", &parts)
        let date = String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return "[Trash Info]\nPath=\(PercentEncoding.encodePath(path))\nDeletionDate=\(date)\n"
    }
}
