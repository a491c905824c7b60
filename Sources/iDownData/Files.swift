// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The system calls of this module.
///
/// Each one goes through ``call(_:_:_:)``, where a test can make it fail.
///
/// New folders and files belong to the user alone, whatever the umask: folders are 0700, files
/// 0600.
struct Files: Sendable {
    /// Returns the errno with which the next call fails, in a test; nil outside of tests.
    var faults: (@Sendable () -> Int32?)?

    /// Makes a call that returns −1 and sets errno on failure; repeats it if a signal interrupted
    /// it.
    @discardableResult
    func call<Answer: SignedInteger>(
        _ operation: StaticString,
        _ path: String,
        _ body: () -> Answer
    ) throws(FileFailure) -> Answer {
        if let code = faults?() {
            throw FileFailure(operation: "\(operation)", path: path, code: code)
        }
        while true {
            let answer = body()
            if answer != -1 { return answer }
            let code = errno
            guard code == EINTR else {
                throw FileFailure(operation: "\(operation)", path: path, code: code)
            }
        }
    }

    /// Runs `body` with an open descriptor, and closes it afterwards: open(2).
    @discardableResult
    func withDescriptor<R>(
        _ path: String,
        _ flags: Int32,
        _ body: (Int32) throws(FileFailure) -> R
    ) throws(FileFailure) -> R {
        let descriptor = try call("open", path) { open(path, flags | O_CLOEXEC, 0o600 as mode_t) }
        defer { close(descriptor) }
        return try body(descriptor)
    }

    /// Makes the folder and its missing parents; the folder itself gets 0700.
    func makePrivateFolder(_ path: String) throws(FileFailure) {
        var missing: [String] = []
        var current = path
        while current != "/", !current.isEmpty, try status(current) == nil {
            missing.append(current)
            current = Self.parent(of: current)
        }
        for folder in missing.reversed() {
            do {
                // The XDG base directory specification asks for 0700 for parents too.
                try call("mkdir", folder) { mkdir(folder, 0o700) }
            } catch  where error.code == EEXIST {
                continue
            }
        }
        try call("chmod", path) { chmod(path, 0o700) }
    }

    /// Sets a file's permissions to 0600; makes an empty file if there is none.
    func makePrivateFile(_ path: String) throws(FileFailure) {
        try withDescriptor(path, O_RDWR | O_CREAT) { descriptor throws(FileFailure) in
            try call("fchmod", path) { fchmod(descriptor, 0o600) }
        }
    }

    /// Returns the file's status; nil if there is no file: stat(2).
    ///
    /// - Throws: `ENOTDIR` if the path leads through something that is no folder.
    func status(_ path: String) throws(FileFailure) -> stat? {
        var answer = stat()
        do {
            try call("stat", path) { stat(path, &answer) }
            return answer
        } catch  where error.code == ENOENT {
            return nil
        }
    }

    /// Returns the file's content; nil if there is no file.
    ///
    /// - Throws: `EFBIG` if the file has more than `limit` bytes.
    func read(_ path: String, limit: Int) throws(FileFailure) -> [UInt8]? {
        guard try status(path) != nil else { return nil }
        // Non-blocking, because opening a pipe under this name would wait for a writer for ever.
        return try withDescriptor(path, O_RDONLY | O_NONBLOCK) { descriptor throws(FileFailure) in
            var content: [UInt8] = []
            while true {
                let piece = try read(descriptor, path, atMost: 16_384)
                if piece.isEmpty { return content }
                content += piece
                guard content.count <= limit else {
                    throw FileFailure(operation: "read", path: path, code: EFBIG)
                }
            }
        }
    }

    /// Returns the next bytes of an open file; none at its end: read(2).
    func read(_ descriptor: Int32, _ path: String, atMost count: Int) throws(FileFailure) -> [UInt8]
    {
        var piece = [UInt8](repeating: 0, count: count)
        let found = try call("read", path) { Glibc.read(descriptor, &piece, count) }
        return Array(piece.prefix(found))
    }

    /// Whether the way to a file that is not there ends in a symbolic link that leads nowhere.
    func endsInLink(_ path: String) -> Bool {
        var path = path
        while path.count > 1 {
            var entry = stat()
            if lstat(path, &entry) == 0 {
                return entry.st_mode & S_IFMT == S_IFLNK && stat(path, &entry) != 0
            }
            path = Self.parent(of: path)
        }
        return false
    }

    /// Follows symbolic links, and returns the last path, whether or not it exists; a path that is
    /// not a link is returned as it is: readlink(2).
    func target(of path: String) throws(FileFailure) -> String {
        var path = path
        // Linux follows up to 40 links: path_resolution(7).
        for _ in 0..<40 {
            var link = [CChar](repeating: 0, count: 4_096)
            let count: Int
            do {
                count = try call("readlink", path) { readlink(path, &link, link.count) }
            } catch {
                guard [EINVAL, ENOENT, ENOTDIR].contains(error.code) else { throw error }
                return path
            }
            let bytes = link.prefix(count).map { UInt8(bitPattern: $0) }
            let target = String(decoding: bytes, as: UTF8.self)
            path = target.hasPrefix("/") ? target : "\(Self.parent(of: path))/\(target)"
        }
        throw FileFailure(operation: "readlink", path: path, code: ELOOP)
    }

    /// Replaces the file's content atomically; it is durable on return.
    ///
    /// After a crash the file has the old or the new content. A hidden `.….idown.new` file may be
    /// left, which the next call overwrites.
    func replace(_ path: String, with content: [UInt8]) throws(FileFailure) {
        let (folder, name) = (Self.parent(of: path), path.split(separator: "/").last ?? "")
        // Not a name that the user may have given a draft.
        let new = "\(folder)/.\(name).idown.new"
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW
        try withDescriptor(new, flags) { descriptor throws(FileFailure) in
            try call("fchmod", new) { fchmod(descriptor, 0o600) }
            try write(content[...], to: descriptor, new)
            try call("fsync", new) { fsync(descriptor) }
        }
        try rename(new, to: path)
        try syncFolder(folder)
    }

    /// Writes all bytes at the descriptor's position: write(2).
    func write(
        _ content: ArraySlice<UInt8>,
        to descriptor: Int32,
        _ path: String
    ) throws(FileFailure) {
        var rest = content
        while !rest.isEmpty {
            let count = try call("write", path) {
                rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Copies a file's content; the copy is not durable on return.
    func copy(_ path: String, to target: String) throws(FileFailure) {
        try withDescriptor(path, O_RDONLY) { source throws(FileFailure) in
            let flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW
            try withDescriptor(target, flags) { copy throws(FileFailure) in
                while case let piece = try read(source, path, atMost: 1 << 20), !piece.isEmpty {
                    try write(piece[...], to: copy, target)
                }
            }
        }
    }

    /// Renames a file; a file that has the new name is replaced: rename(2).
    func rename(_ path: String, to target: String) throws(FileFailure) {
        try call("rename", path) { Glibc.rename(path, target) }
    }

    /// Removes the file if it exists: unlink(2).
    func remove(_ path: String) throws(FileFailure) {
        do {
            try call("unlink", path) { unlink(path) }
        } catch  where error.code == ENOENT {
            return
        }
    }

    /// Returns the names in a folder: readdir(3).
    func names(in folder: String) throws(FileFailure) -> [String] {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
        let descriptor = try call("open", folder) { open(folder, flags) }
        guard let stream = fdopendir(descriptor) else {
            let code = errno
            close(descriptor)
            throw FileFailure(operation: "fdopendir", path: folder, code: code)
        }
        // closedir closes the descriptor too.
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Makes the names in a folder durable: fsync(2).
    func syncFolder(_ path: String) throws(FileFailure) {
        try withDescriptor(path, O_RDONLY | O_DIRECTORY) { descriptor throws(FileFailure) in
            try call("fsync", path) { fsync(descriptor) }
        }
    }

    /// Returns the path without its last component.
    static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
