// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Small files of the user's that this command changes: read whole, replaced whole.
enum TextFile {
    /// Why a file was left as it is.
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ path: String, _ reason: String) { description = "\(path): \(reason)" }

        /// By errno.
        init(_ path: String) { self.init(path, String(cString: strerror(errno))) }
    }

    /// Far more than any desktop writes.
    private static let largest = 1 << 20

    /// The whole text; nil where there is no such file.
    static func read(_ path: String) throws(Failure) -> String? {
        // A pipe without a writer does not make this wait.
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw Failure(path)
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw Failure(path) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Failure(path, "is no file") }
        guard status.st_size <= largest else { throw Failure(path, "is too long") }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = Glibc.read(file, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Failure(path) }
            guard count > 0 else { break }
            bytes += piece.prefix(count)
            guard bytes.count <= largest else { throw Failure(path, "is too long") }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(path, "is not UTF-8")
        }
        return text
    }

    /// Puts a text in the place of the file, all or nothing; nil removes it.
    ///
    /// Where the path is a link, what it leads to is replaced, and stays linked.
    static func replace(
        _ path: String,
        with text: String?,
        mode: mode_t = 0o644
    ) throws(Failure) {
        guard let text else {
            guard unlink(path) == 0 || errno == ENOENT else { throw Failure(path) }
            return
        }
        let target = resolved(path)
        try makeFolder(parent(of: target))
        var status = stat()
        let kept = stat(target, &status) == 0 ? status.st_mode & 0o777 : mode
        let new = "\(target).idown-\(getpid())"
        let file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kept)
        guard file >= 0 else { throw Failure(new) }
        defer { close(file) }
        guard writeAll(text, to: file), fchmod(file, kept) == 0, fsync(file) == 0,
            rename(new, target) == 0
        else {
            let failure = Failure(target)
            unlink(new)
            throw failure
        }
        synchronize(parent(of: target))
    }

    private static func writeAll(_ text: String, to file: CInt) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func resolved(_ path: String) -> String {
        guard let target = realpath(path, nil) else { return path }
        defer { free(target) }
        return String(cString: target)
    }

    /// The folder and those above it that are missing, 0700 as the base directory specification
    /// asks.
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
        // The new name is there in any case; only a power cut could take it back.
        _ = fsync(file)
        close(file)
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}
