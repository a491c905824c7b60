// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Reads and replaces small text files of the user, each as a whole.
enum TextFile {
    /// Why a file could not be read or replaced.
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ path: String, _ reason: String) { description = "\(path): \(reason)" }

        /// Describes errno.
        init(_ path: String) { self.init(path, String(cString: strerror(errno))) }
    }

    /// The most bytes that are read: a browser's profile has some MiB.
    private static let maximumBytes = 16 << 20

    /// Returns the text of a file; nil if it does not exist.
    static func read(_ path: String) throws(Failure) -> String? {
        // O_NONBLOCK keeps open(2) from waiting if the path is a pipe without a writer.
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw Failure(path)
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw Failure(path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(path, "is not a regular file")
        }
        guard status.st_size <= maximumBytes else { throw Failure(path, "is larger than 16 MiB") }
        guard let bytes = Descriptor.read(file, atMost: maximumBytes) else { throw Failure(path) }
        guard bytes.count <= maximumBytes else { throw Failure(path, "is larger than 16 MiB") }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(path, "is not UTF-8 text")
        }
        return text
    }

    /// Replaces a file's text as a whole, or not at all; nil removes the file.
    ///
    /// If the path is a symbolic link, its target is replaced and the link stays.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - text: The new text.
    ///   - mode: The permissions of a new file; a file that exists keeps its own.
    /// - Throws: ``Failure`` if the file cannot be replaced; it is unchanged then.
    static func replace(
        _ path: String,
        with text: String?,
        mode: mode_t = 0o644
    ) throws(Failure) {
        guard let text else {
            guard unlink(path) == 0 || errno == ENOENT else { throw Failure(path) }
            return
        }
        let target = Disk.resolved(path) ?? path
        try makeFolder(parent(of: target))
        var status = stat()
        let kept = stat(target, &status) == 0 ? status.st_mode & 0o777 : mode
        let new = "\(target).idown-\(getpid())"
        let file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kept)
        guard file >= 0 else { throw Failure(new) }
        defer { close(file) }
        guard Descriptor.write(text.utf8, to: file), fchmod(file, kept) == 0, fsync(file) == 0,
            rename(new, target) == 0
        else {
            let failure = Failure(target)
            unlink(new)
            throw failure
        }
        synchronize(parent(of: target))
    }

    /// Creates a folder and its missing parents, with mode 0700 as the base directory specification
    /// requires.
    private static func makeFolder(_ path: String) throws(Failure) {
        guard mkdir(path, 0o700) != 0 else { return }
        if errno == EEXIST { return }
        guard errno == ENOENT, path.contains("/"), parent(of: path) != path else {
            throw Failure(path)
        }
        try makeFolder(parent(of: path))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw Failure(path) }
    }

    private static func synchronize(_ folder: String) {
        let file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { return }
        // The file is replaced already; without this a power cut could still undo it.
        _ = fsync(file)
        close(file)
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}
