// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Reading and writing of whole texts by file descriptors; signals interrupt neither.
enum Descriptor {
    /// Writes all bytes: write(2).
    ///
    /// - Returns: Whether they were written; errno tells why not.
    static func write(_ bytes: some Sequence<UInt8>, to file: CInt) -> Bool {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Reads to the end: read(2).
    ///
    /// - Returns: The bytes, which are more than `most` where there are more; nil with errno after an
    ///   error.
    static func read(_ file: CInt, atMost most: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= most {
            let count = Glibc.read(file, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            guard count > 0 else { break }
            bytes += piece.prefix(count)
        }
        return bytes
    }
}
