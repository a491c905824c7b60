// SPDX-License-Identifier: Apache-2.0

import Glibc
import iDownState

/// One trash directory, held open: `files` with what was deleted, `info` with where it was.
struct TrashCan {
    /// The most bytes of a name, so that `.trashinfo` and a number still fit behind it.
    private static let longestName = 230
    private static let suffix = ".trashinfo"

    let files: OpenFolder
    private let info: OpenFolder
    /// The top of the file system; nil for the home's trash, which records absolute paths.
    private let top: String?

    init(_ path: String, top: String?, fileSystem: FileSystem) throws(FileError) {
        for name in ["files", "info"] {
            _ = try fileSystem.makeFolder(path + "/" + name, in: AT_FDCWD, mode: 0o700)
        }
        files = try OpenFolder(path + "/files", fileSystem: fileSystem)
        info = try OpenFolder(path + "/info", fileSystem: fileSystem)
        self.top = top
    }

    /// A path as it is recorded here.
    func shown(_ path: String) -> String {
        guard let top else { return path }
        return String(path.dropFirst(top == "/" ? 1 : top.count + 1))
    }

    /// Takes a free name by writing its information first, as the specification wants it.
    func reserve(_ name: String, info text: String) throws(FileError) -> String {
        let fileSystem = files.fileSystem
        for number in 1... {
            let candidate = Self.name(name, number)
            // What lies there without information is somebody's all the same.
            guard try files.status(of: candidate) == nil else { continue }
            let file: Descriptor
            do throws(FileError) {
                file = try fileSystem.open(
                    candidate + Self.suffix,
                    in: info.number,
                    flags: O_WRONLY | O_CREAT | O_EXCL,
                    mode: 0o600
                )
            } catch .system(EEXIST, _) {
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

    /// Forgets a name that was not used after all.
    func giveBack(_ name: String) {
        try? files.fileSystem.unlink(name + Self.suffix, in: info.number)
    }

    private func write(_ text: String, to file: Descriptor) throws(FileError) {
        var text = text
        let result: Result<Void, FileError> = text.withUTF8 { bytes in
            Result { () throws(FileError) in
                try files.fileSystem.write(UnsafeRawBufferPointer(bytes), to: file.number, at: 0)
            }
        }
        try result.get()
        try files.fileSystem.synchronize(file.number)
    }

    /// `name.ext`, then `name.2.ext` and so on.
    private static func name(_ name: String, _ number: Int) -> String {
        let dot = name.dropFirst().lastIndex(of: ".") ?? name.endIndex
        let end = name.utf8.distance(from: dot, to: name.endIndex) > 32 ? name.endIndex : dot
        let pathExtension = name[end...]
        let room = longestName - pathExtension.utf8.count
        let stem = String(name[..<end]).prefix(fitting: room)
        return number == 1 ? stem + pathExtension : "\(stem).\(number)\(pathExtension)"
    }
}
