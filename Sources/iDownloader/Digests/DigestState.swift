// SPDX-License-Identifier: Apache-2.0

import Crypto
package import iDownState

/// A digest under way.
///
/// A value: a copy goes on from the same place.
package struct DigestState: Sendable {
    // One field each, not an existential: what a slice of the file costs is the digest alone.
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

    /// Takes the next bytes.
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

    /// What all bytes so far come to.
    package var value: [UInt8] {
        switch state {
        case .md5(let function): Array(function.finalize())
        case .sha1(let function): Array(function.finalize())
        case .sha256(let function): Array(function.finalize())
        case .sha512(let function): Array(function.finalize())
        }
    }
}
