// SPDX-License-Identifier: Apache-2.0

import Glibc
import iDownState

/// One trash directory, kept open: `files` holds deleted files, `info` tells where each was.
struct TrashCan {
    /// The longest name in bytes, chosen so that a number and `.trashinfo` can be appended.
    private static let longestName = 230
    private static let suffix = ".trashinfo"

    let files: OpenFolder
    private let info: OpenFolder
    /// The topmost folder of the file system, to which recorded paths are relative; nil for the
    /// home's trash, which records absolute paths.
    private let top: String?

    init(_ path: String, top: String?, fileSystem: FileSystem) throws(FileError) {
        for name in ["files", "info"] {
            _ = try fileSystem.makeFolder(path + "/" + name, in: AT_FDCWD, mode: 0o700)
        }
        files = try OpenFolder(path + "/files", fileSystem: fileSystem)
        info = try OpenFolder(path + "/info", fileSystem: fileSystem)
        self.top = top
    }

    /// Returns a path as this trash records it.
    func shown(_ path: String) -> String {
        guard let top else { return path }
        return String(path.dropFirst(top == "/" ? 1 : top.count + 1))
    }

    /// Reserves a free name by writing its `.trashinfo` first, as the specification demands.
    func reserve(_ name: String, info text: String) throws(FileError) -> String {
        for number in 1... {
            let candidate = Self.name(name, number)
            // A file without information may be here: it is not overwritten.
            guard try files.status(of: candidate) == nil else { continue }
            let file: Descriptor
            do throws(FileError) {
                file = try info.create(candidate + Self.suffix)
            } catch .nameTaken {
                continue
            }
            do throws(FileError) {
                try write(text, to: file)
            } catch {
                giveBack(candidate)
                throw error
            }
            return candidate
        }
        throw .nameTaken
    }

    /// Releases a name that was not used.
    func giveBack(_ name: String) {
        try? files.fileSystem.unlink(name + Self.suffix, in: info.number)
    }

    private func write(_ text: String, to file: Descriptor) throws(FileError) {
        try Array(text.utf8).withUnsafeBufferPointer { bytes throws(FileError) in
            try files.fileSystem.write(UnsafeRawBufferPointer(bytes), to: file.number, at: 0)
        }
        try files.fileSystem.synchronize(file.number)
    }

    /// Returns `name.ext` for 1, `name.2.ext` for 2 and so on.
    private static func name(_ name: String, _ number: Int) -> String {
        let dot = name.dropFirst().lastIndex(of: ".") ?? name.endIndex
        let end = name.utf8.distance(from: dot, to: name.endIndex) > 32 ? name.endIndex : dot
        let pathExtension = name[end...]
        let room = longestName - pathExtension.utf8.count
        let stem = String(name[..<end]).prefix(fitting: room)
        return number == 1 ? stem + pathExtension : "\(stem).\(number)\(pathExtension)"
    }
}
