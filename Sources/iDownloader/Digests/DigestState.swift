// SPDX-License-Identifier: Apache-2.0

import CCrypto
package import iDownState

/// A digest of the bytes taken so far.
///
/// A copy continues from the same position.
package struct DigestState: Sendable {
    private var context: DigestContext

    package init(_ algorithm: Checksum.Algorithm) { context = DigestContext(algorithm) }

    /// Adds the next bytes.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        if !isKnownUniquelyReferenced(&context) { context = DigestContext(copying: context) }
        context.update(bytes)
    }

    /// The digest of all bytes so far.
    package var value: [UInt8] { DigestContext(copying: context).finish() }
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

/// OpenSSL's state of a digest (EVP_DigestInit(3)); who changes it has the only reference.
///
/// Its calls fail for lack of memory only, for which Swift itself ends the process.
private final class DigestContext: @unchecked Sendable {
    /// The algorithms, from a library context of their own: the system's configuration may forbid
    /// MD5 and SHA-1 for signatures (FIPS), while a download only compares what others have given.
    ///
    /// OpenSSL never changes a fetched algorithm, and its built-in provider has all four.
    private nonisolated(unsafe) static let functions: [Checksum.Algorithm: OpaquePointer] = {
        let library = OSSL_LIB_CTX_new()
        let functions = Checksum.Algorithm.allCases.map { algorithm in
            // OpenSSL knows our names as well: md5, sha-1, sha-256, sha-512.
            guard let function = EVP_MD_fetch(library, algorithm.rawValue, nil) else {
                fatalError("OpenSSL has no \(algorithm.rawValue)")
            }
            return (algorithm, function)
        }
        return Dictionary(uniqueKeysWithValues: functions)
    }()

    private let state: OpaquePointer

    private init() {
        guard let state = EVP_MD_CTX_new() else { fatalError("no memory for a digest") }
        self.state = state
    }

    convenience init(_ algorithm: Checksum.Algorithm) {
        self.init()
        expect(EVP_DigestInit_ex(state, Self.functions[algorithm], nil))
    }

    convenience init(copying other: DigestContext) {
        self.init()
        expect(EVP_MD_CTX_copy_ex(state, other.state))
    }

    deinit { EVP_MD_CTX_free(state) }

    func update(_ bytes: UnsafeRawBufferPointer) {
        expect(EVP_DigestUpdate(state, bytes.baseAddress, bytes.count))
    }

    func finish() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, count in
            var length: UInt32 = 0
            expect(EVP_DigestFinal_ex(state, buffer.baseAddress, &length))
            count = Int(length)
        }
    }

    private func expect(_ result: CInt) { precondition(result == 1, "no memory for a digest") }
}
