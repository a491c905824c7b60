// SPDX-License-Identifier: Apache-2.0

package import Glibc
package import iDownState

/// The trash of the user: the freedesktop.org Trash specification 1.0.
///
/// A file goes into the trash of its own file system, never across: the home's, else
/// `.Trash/<uid>` or `.Trash-<uid>` at the top of that file system. Blocks.
package struct Trash: Sendable {
    private let fileSystem: FileSystem
    private let dataHome: String
    private let user = geteuid()

    /// - Parameters:
    ///   - dataHome: `$XDG_DATA_HOME`.
    ///   - fileSystem: the door to the system.
    package init(dataHome: String, fileSystem: FileSystem) {
        self.dataHome = dataHome
        self.fileSystem = fileSystem
    }

    /// Moves a finished file into the trash, if it is still the one that we made.
    ///
    /// - Parameters:
    ///   - file: under its final name.
    ///   - directory: the recorded path of its folder.
    ///   - time: of the deletion, in seconds since the epoch.
    /// - Returns: false where nothing of ours was there; then nothing was touched.
    /// - Throws: where no trash takes it; the file then stays where it is.
    @discardableResult
    package func put(
        _ file: LocalFile,
        from directory: String,
        at time: time_t
    ) throws(FileError) -> Bool {
        let folder: OpenFolder
        do throws(FileError) {
            folder = try OpenFolder(directory, fileSystem: fileSystem)
        } catch {
            guard error.isGone else { throw error }
            return false
        }
        guard let status = try folder.status(of: file.name), status.isRegular,
            folder.isRecorded(status, as: file)
        else { return false }
        let can = try can(for: folder, on: status.identity.device)
        let path = (directory == "/" ? "" : directory) + "/" + file.name
        let name = try can.reserve(
            file.name,
            info: Self.info(path: can.shown(path), time: time)
        )
        do throws(FileError) {
            try fileSystem.moveToFree(file.name, in: folder.number, to: name, in: can.files.number)
        } catch {
            can.giveBack(name)
            throw error
        }
        try can.files.synchronize()
        try folder.synchronize()
        return true
    }

    // MARK: Which trash

    private func can(for folder: OpenFolder, on device: UInt64) throws(FileError) -> TrashCan {
        let home = dataHome + "/Trash"
        try makeFolders(home)
        guard let path = try fileSystem.resolve(home),
            let status = try fileSystem.status(of: path, in: AT_FDCWD)
        else { throw .vanished }
        // One that exists for this file system and cannot be used is no reason for another.
        guard status.identity.device != device else {
            return try TrashCan(path, top: nil, fileSystem: fileSystem)
        }
        let top = try top(of: folder.path, on: device)
        let prefix = top == "/" ? "" : top
        // An administrator's, common to all users: only with the sticky bit, and no link.
        if let common = try fileSystem.status(of: prefix + "/.Trash", in: AT_FDCWD),
            common.isFolder, common.mode & S_ISVTX != 0,
            let own = try? own(prefix + "/.Trash/\(user)")
        {
            return try TrashCan(own, top: top, fileSystem: fileSystem)
        }
        return try TrashCan(
            try own(prefix + "/.Trash-\(user)"),
            top: top,
            fileSystem: fileSystem
        )
    }

    /// The uppermost folder of the same file system.
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

    /// Makes the folder where it is missing; one that somebody else owns is not for our files.
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

    // MARK: What is written

    /// The content of a `.trashinfo`; the date is local, as the specification wants it.
    private static func info(path: String, time: time_t) -> String {
        var (time, parts) = (time, tm())
        localtime_r(&time, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let count = strftime(&text, text.count, "%Y-%m-%dT%H:%M:%S", &parts)
        let date = String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return "[Trash Info]\nPath=\(PercentEncoding.encodePath(path))\nDeletionDate=\(date)\n"
    }
}
