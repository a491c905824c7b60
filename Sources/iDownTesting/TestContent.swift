// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The bytes of a generated file: the same for the same seed, computed for any offset directly.
package struct TestContent: Hashable, Sendable {
    private enum Source: Hashable, Sendable {
        case seed(UInt64)
        case bytes([UInt8])
    }

    /// The length of the file in bytes.
    package let count: Int64
    private let source: Source

    /// Makes content that looks random; no two eight-byte words of a file are equal.
    package init(seed: UInt64, count: Int64) {
        precondition(count >= 0, "a file has no negative length")
        self.count = count
        source = .seed(seed)
    }

    /// Makes content of the given bytes.
    package init(_ bytes: [UInt8]) {
        count = Int64(bytes.count)
        source = .bytes(bytes)
    }

    /// All bytes, for small files.
    package var bytes: [UInt8] { bytes(in: 0..<count) }

    /// Returns the bytes of a range, clamped to the file.
    package func bytes(in range: Range<Int64>) -> [UInt8] {
        let range = range.clamped(to: 0..<count)
        return [UInt8](unsafeUninitializedCapacity: Int(range.count)) { buffer, initialized in
            fill(UnsafeMutableRawBufferPointer(buffer), from: range.lowerBound)
            initialized = Int(range.count)
        }
    }

    /// Writes the bytes from `offset` on into a buffer, which must end within the file.
    package func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: Int64) {
        precondition(offset >= 0 && offset + Int64(buffer.count) <= count, "beyond the file")
        switch source {
        case .bytes(let bytes):
            bytes.withUnsafeBytes { source in
                let part = source[Int(offset)...].prefix(buffer.count)
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: part))
            }
        case .seed(let seed):
            Self.fill(buffer, from: UInt64(offset), seed: seed)
        }
    }

    private static func fill(
        _ buffer: UnsafeMutableRawBufferPointer,
        from offset: UInt64,
        seed: UInt64
    ) {
        var position = 0
        while position < buffer.count {
            let (index, skipped) = (offset + UInt64(position)).quotientAndRemainder(dividingBy: 8)
            let word = word(index, seed: seed).littleEndian
            if skipped == 0, buffer.count - position >= 8 {
                buffer.storeBytes(of: word, toByteOffset: position, as: UInt64.self)
                position += 8
            } else {
                buffer[position] = UInt8(truncatingIfNeeded: word >> (skipped * 8))
                position += 1
            }
        }
    }

    /// Returns the output of splitmix64 (Steele, Lea, Flood, 2014) for one state.
    private static func word(_ index: UInt64, seed: UInt64) -> UInt64 {
        var z = seed &+ (index &+ 1) &* 0x9E37_79B9_7F4A_7C15
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

extension TestContent {
    /// Why a file could not be compared or written.
    package struct FileFailure: Error, CustomStringConvertible {
        package let description: String

        init(_ path: String) { description = "\(path): \(String(cString: strerror(errno)))" }
    }

    /// Returns the offset at which a file on disk first differs; nil if the file is equal.
    ///
    /// A shorter or longer version of the content differs at the end of the shorter one.
    package func firstDifference(fromFile path: String) throws(FileFailure) -> Int64? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw FileFailure(path) }
        defer { close(file) }
        var offset: Int64 = 0
        var piece = [UInt8](repeating: 0, count: 256 * 1024)
        while true {
            let length = piece.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
            guard length >= 0 else { throw FileFailure(path) }
            if length == 0 { return offset == count ? nil : offset }
            let expected = bytes(in: offset..<(offset + Int64(length)))
            if !expected.elementsEqual(piece[..<length]) {
                let same = zip(expected, piece).prefix { $0 == $1 }.count
                return offset + Int64(min(same, expected.count))
            }
            offset += Int64(length)
        }
    }

    /// Writes the whole content to a new or emptied file.
    package func write(toFile path: String) throws(FileFailure) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw FileFailure(path) }
        defer { close(file) }
        var offset: Int64 = 0
        while offset < count {
            let piece = bytes(in: offset..<min(count, offset + 256 * 1024))
            let length = piece.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            guard length > 0 else { throw FileFailure(path) }
            offset += Int64(length)
        }
    }
}
