// SPDX-License-Identifier: Apache-2.0

/// The digest that a file must have.
///
/// It comes from the option `checksum` (`sha-256=<hex>`), from the file's server or from a
/// metalink.
package struct Checksum: Hashable, Sendable {
    /// The algorithms by their names in the contract, from the weakest to the strongest.
    ///
    /// MD5 and SHA-1 detect only accidents: an attacker can make two files with one digest.
    package enum Algorithm: String, CaseIterable, Sendable {
        case md5
        case sha1 = "sha-1"
        case sha256 = "sha-256"
        case sha512 = "sha-512"

        /// How many bytes a digest has.
        package var byteCount: Int {
            switch self {
            case .md5: 16
            case .sha1: 20
            case .sha256: 32
            case .sha512: 64
            }
        }
    }

    package let algorithm: Algorithm
    /// The digest, as long as ``Algorithm/byteCount`` says.
    package let bytes: [UInt8]

    /// Returns nil where the number of bytes is not the algorithm's.
    package init?(_ algorithm: Algorithm, _ bytes: [UInt8]) {
        guard bytes.count == algorithm.byteCount else { return nil }
        self.algorithm = algorithm
        self.bytes = bytes
    }
}

/// Why a text is not a checksum.
package enum ChecksumFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the algorithm is missing or unknown.
    case unknownAlgorithm
    /// The digest is not hexadecimal, or its length is not the algorithm's.
    case notHexadecimal(Checksum.Algorithm)

    /// Describes a correct checksum; never repeats the text.
    package var description: String {
        switch self {
        case .unknownAlgorithm:
            let names = Checksum.Algorithm.allCases.map(\.rawValue).joined(separator: ", ")
            return "ALGORITHM=HEX, with one of the algorithms \(names)"
        case .notHexadecimal(let algorithm):
            return
                "\(algorithm.rawValue)= followed by \(algorithm.byteCount * 2) hexadecimal digits"
        }
    }
}

extension Checksum {
    /// Reads `algorithm=hex`, in small or capital letters.
    package init(parsing text: String) throws(ChecksumFault) {
        let parts = text.utf8.split(
            separator: UInt8(ascii: "="),
            maxSplits: 1,
            omittingEmptySubsequences: false
        )
        guard parts.count == 2,
            let algorithm = Algorithm(rawValue: String(Substring(parts[0])).lowercased())
        else { throw .unknownAlgorithm }
        guard let bytes = Self.bytes(ofHexadecimal: parts[1]),
            let checksum = Checksum(algorithm, bytes)
        else { throw .notHexadecimal(algorithm) }
        self = checksum
    }

    /// Reads a digest in small or capital hexadecimal digits; returns nil for other characters and
    /// for a number of digits that is not the algorithm's.
    package init?(_ algorithm: Algorithm, hexadecimal text: some StringProtocol) {
        guard let bytes = Self.bytes(ofHexadecimal: Substring(text).utf8) else { return nil }
        self.init(algorithm, bytes)
    }

    private static func bytes(ofHexadecimal digits: Substring.UTF8View) -> [UInt8]? {
        // No digest is longer; the text may be.
        let values = digits.prefix(128).compactMap(\.hexadecimalValue)
        guard values.count == digits.count, values.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }
}

extension Checksum: CustomStringConvertible {
    /// `algorithm=hex` in small letters.
    package var description: String {
        let digits = Array("0123456789abcdef".utf8)
        let hexadecimal = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return algorithm.rawValue + "=" + String(decoding: hexadecimal, as: UTF8.self)
    }
}

extension Checksum.Algorithm: Comparable {
    /// Orders by strength: of these four algorithms, the one with the longer digest is stronger.
    package static func < (left: Self, right: Self) -> Bool { left.byteCount < right.byteCount }
}
