// SPDX-License-Identifier: Apache-2.0

import Glibc

extension PartFile {
    /// Returns the bytes from `start` to `end`, fewer if the file ends before.
    func bytes(from start: Int64, to end: Int64) throws(FileError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Int(max(0, end - start)),
            alignment: 16
        )
        defer { buffer.deallocate() }
        let count = try read(into: buffer, at: start)
        return Array(buffer.prefix(count))
    }

    /// Compares bytes with those in the file from `offset` on.
    ///
    /// - Returns: the number of leading bytes that are equal, at most as many as the file has.
    package func commonPrefixLength(
        with bytes: UnsafeRawBufferPointer,
        at offset: Int64
    ) throws(FileError) -> Int {
        let own = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
        defer { own.deallocate() }
        let count = try read(into: own, at: offset)
        guard count > 0, let left = bytes.baseAddress, let right = own.baseAddress else { return 0 }
        if memcmp(left, right, count) == 0 { return count }
        return zip(bytes, own).prefix(count).prefix { $0 == $1 }.count
    }
}
