// SPDX-License-Identifier: Apache-2.0

/// A URL's hash for the index, because URLs may be 64 KiB long: 64-bit FNV-1a.
///
/// The hash is stored, so it must never change; Swift's own hashes differ in every process. Two
/// URLs may have the same hash: compare the URLs of rows that are found by it.
enum URLHash {
    static func value(of url: String) -> Int64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in url.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        return Int64(bitPattern: hash)
    }
}
