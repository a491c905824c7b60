// SPDX-License-Identifier: Apache-2.0

/// A short stand-in for a URL in the index, since URLs may be 64 KiB long: 64-bit FNV-1a.
///
/// It is stored, so it never changes; Swift's own hashes differ in every process. Two URLs may
/// share a hash: whoever finds a row by it compares the URL as well.
enum URLHash {
    static func value(of url: String) -> Int64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in url.utf8 {
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
        }
        return Int64(bitPattern: hash)
    }
}
