// SPDX-License-Identifier: Apache-2.0

import Glibc
package import iDownState

/// The trash of the user, by the freedesktop.org Trash specification 1.0.
///
/// A file is moved to a trash on its own file system: the home's, else `.Trash/<uid>` or
/// `.Trash-<uid>` at the top of that file system. There `files` holds deleted files, and `info`
/// tells where each was. Calls block.
package struct Trash: Sendable {
    private static let suffix = ".trashinfo"
    /// The longest name in bytes to which the suffix can be appended.
    private static let longestName = 255 - suffix.utf8.count

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
        let (trash, top) = try trash(for: folder, on: status.identity.device)
        let path = (directory == "/" ? "" : directory) + "/" + file.name
        // The home's trash records absolute paths, another one those relative to its file system.
        let shown = top.map { path.dropFirst($0 == "/" ? 1 : $0.count + 1) } ?? path[...]
        let (files, info) = (try open("files", of: trash), try open("info", of: trash))
        let text = Self.info(path: String(shown), time: time)
        let name = try reserve(file.name, in: files, noting: text, in: info)
        do throws(FileError) {
            try folder.move(file.name, to: name, in: files)
        } catch {
            try? fileSystem.unlink(name + Self.suffix, in: info.number)
            throw error
        }
        try files.synchronize()
        try folder.synchronize()
        return true
    }

    private func open(_ name: String, of trash: String) throws(FileError) -> OpenFolder {
        let path = trash + "/" + name
        _ = try fileSystem.makeFolder(path, in: AT_FDCWD, mode: 0o700)
        return try OpenFolder(path, fileSystem: fileSystem)
    }

    /// Reserves a free name by writing its information first, as the specification demands.
    private func reserve(
        _ name: String,
        in files: OpenFolder,
        noting text: String,
        in info: OpenFolder
    ) throws(FileError) -> String {
        for number in (name.utf8.count > Self.longestName ? 1 : 0)... {
            let free = FileName(trusted: name).numbered(number, limit: Self.longestName).text
            // A file without information may be here: it is not overwritten.
            guard try files.status(of: free) == nil else { continue }
            let file: Descriptor
            do throws(FileError) {
                file = try info.create(free + Self.suffix)
            } catch .nameTaken {
                continue
            }
            do throws(FileError) {
                try Array(text.utf8).withUnsafeBufferPointer { bytes throws(FileError) in
                    let bytes = UnsafeRawBufferPointer(bytes)
                    try fileSystem.write(bytes, to: file.number, at: 0)
                }
                try fileSystem.synchronize(file.number)
            } catch {
                try? fileSystem.unlink(free + Self.suffix, in: info.number)
                throw error
            }
            return free
        }
        throw .nameTaken
    }

    // MARK: Choice of the trash

    /// Returns the folder of the trash for a file, and the topmost folder of its file system; nil for
    /// the home's.
    private func trash(
        for folder: OpenFolder,
        on device: UInt64
    ) throws(FileError) -> (path: String, top: String?) {
        let home = dataHome + "/Trash"
        try makeFolders(home)
        guard let path = try fileSystem.resolve(home),
            let status = try fileSystem.status(of: path, in: AT_FDCWD)
        else { throw .vanished }
        // If the home is on the same file system, only its trash is used, even if that fails.
        guard status.identity.device != device else { return (path, nil) }
        let top = try top(of: folder.path, on: device)
        let prefix = top == "/" ? "" : top
        // An administrator made this trash for all users; it must have the sticky bit and be no
        // link.
        if let common = try fileSystem.status(of: prefix + "/.Trash", in: AT_FDCWD),
            common.isFolder, common.mode & S_ISVTX != 0,
            let own = try? own(prefix + "/.Trash/\(user)")
        {
            return (own, top)
        }
        return (try own(prefix + "/.Trash-\(user)"), top)
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
