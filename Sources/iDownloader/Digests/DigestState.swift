// SPDX-License-Identifier: Apache-2.0

import Crypto
package import iDownState

/// A digest of the bytes taken so far.
///
/// A copy continues from the same position.
package struct DigestState: Sendable {
    // One case for each algorithm, not an existential, so that only the digest itself costs time.
    private enum State: Sendable {
        case md5(Insecure.MD5)
        case sha1(Insecure.SHA1)
        case sha256(SHA256)
        case sha512(SHA512)
    }

    private var state: State
    package let algorithm: Checksum.Algorithm

    package init(_ algorithm: Checksum.Algorithm) {
        self.algorithm = algorithm
        state =
            switch algorithm {
            case .md5: .md5(Insecure.MD5())
            case .sha1: .sha1(Insecure.SHA1())
            case .sha256: .sha256(SHA256())
            case .sha512: .sha512(SHA512())
            }
    }

    /// Adds the next bytes.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        switch state {
        case .md5(var function):
            function.update(bufferPointer: bytes)
            state = .md5(function)
        case .sha1(var function):
            function.update(bufferPointer: bytes)
            state = .sha1(function)
        case .sha256(var function):
            function.update(bufferPointer: bytes)
            state = .sha256(function)
        case .sha512(var function):
            function.update(bufferPointer: bytes)
            state = .sha512(function)
        }
    }

    /// The digest of all bytes so far.
    package var value: [UInt8] {
        switch state {
        case .md5(let function): Array(function.finalize())
        case .sha1(let function): Array(function.finalize())
        case .sha256(let function): Array(function.finalize())
        case .sha512(let function): Array(function.finalize())
        }
    }
}

extension DigestState {
    /// Adds a range of a file.
    ///
    /// - Throws: `vanished` if the file ends before the range does.
    mutating func update(with range: ByteRange, of part: PartFile) throws(FileError) {
        // 256 KiB fit into the processor's cache.
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Int(min(256 << 10, range.length)),
            alignment: 64
        )
        defer { buffer.deallocate() }
        var offset = range.first
        while offset < range.end {
            let wanted = Int(min(Int64(buffer.count), range.end - offset))
            let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
            guard try part.read(into: piece, at: offset) == wanted else { throw .vanished }
            update(UnsafeRawBufferPointer(piece))
            offset += Int64(wanted)
        }
    }
}
