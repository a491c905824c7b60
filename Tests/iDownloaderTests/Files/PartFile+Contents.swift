// SPDX-License-Identifier: Apache-2.0

import Glibc
import iDownState
import iDownloader

extension PartFile {
    /// All bytes of the file.
    func contents() throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(try size()))
        let count = try bytes.withUnsafeMutableBytes { try read(into: $0, at: 0) }
        return Array(bytes.prefix(count))
    }

    func write(_ text: String, at offset: Int64 = 0) throws {
        let bytes = Array(text.utf8)
        try bytes.withUnsafeBytes { try write($0, at: offset) }
    }
}

/// Puts somebody else's file into a folder.
func putFile(_ path: String, _ text: String = "somebody else's") {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    let bytes = Array(text.utf8)
    precondition(write(file, bytes, bytes.count) == bytes.count, "cannot write \(path)")
    close(file)
}

/// What a file holds; nil where there is none.
func contents(of path: String) -> String? {
    let file = open(path, O_RDONLY | O_NOFOLLOW)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = read(file, &bytes, 4096)
    return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
}

/// The names in a folder, in order.
func names(in path: String) -> [String] {
    guard let stream = opendir(path) else { return [] }
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
