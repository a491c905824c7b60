// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Reads and writes small files as a whole.
package enum TestFile {
    /// Why a file could not be read or written.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        init(_ path: String) { description = "\(path): \(String(cString: strerror(errno)))" }
    }

    /// Returns whether the path exists; symbolic links are not followed.
    package static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Returns the names in a folder, sorted; none if the folder does not exist.
    package static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Returns all bytes of a file.
    package static func bytes(of path: String) throws(Failure) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw Failure(path) }
        defer { close(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 256 * 1024)
        while true {
            let count = read(file, &piece, piece.count)
            guard count >= 0 else { throw Failure(path) }
            if count == 0 { return bytes }
            bytes += piece[..<count]
        }
    }

    /// Returns a file as text; U+FFFD replaces bytes that are not UTF-8.
    package static func text(of path: String) throws(Failure) -> String {
        String(decoding: try bytes(of: path), as: UTF8.self)
    }

    /// Makes or replaces a file.
    package static func write(_ bytes: some Sequence<UInt8>, to path: String) throws(Failure) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw Failure(path) }
        defer { close(file) }
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            guard count > 0 else { throw Failure(path) }
            rest = rest.dropFirst(count)
        }
    }

    /// Makes or replaces a file.
    package static func write(_ text: String, to path: String) throws(Failure) {
        try write(text.utf8, to: path)
    }
}
