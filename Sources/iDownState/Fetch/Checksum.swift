// SPDX-License-Identifier: Apache-2.0

/// The digest that a file is to have, as the option `checksum` gives it (`sha-256=<hex>`), as its
/// server or as a metalink does.
package struct Checksum: Hashable, Sendable {
    /// By their names in the contract, from the weakest to the strongest.
    ///
    /// MD5 and SHA-1 tell accidents only: another file can be made to fit them on purpose.
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
    /// As many as the algorithm's digests have.
    package let bytes: [UInt8]

    /// Nil where the number of bytes is not the algorithm's.
    package init?(_ algorithm: Algorithm, _ bytes: [UInt8]) {
        guard bytes.count == algorithm.byteCount else { return nil }
        self.algorithm = algorithm
        self.bytes = bytes
    }
}

/// Why a text is no checksum.
package enum ChecksumFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the algorithm is missing, or none that is known.
    case unknownAlgorithm
    /// Not so many hexadecimal digits as the algorithm's digest has.
    case notHexadecimal(Checksum.Algorithm)

    /// What would be right; never the text itself.
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
    /// Reads `algorithm=hex`, small and capital letters alike.
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

    /// Reads hexadecimal digits, small and capital letters alike; nil for anything else, and where
    /// there are not as many as the algorithm's digest has.
    package init?(_ algorithm: Algorithm, hexadecimal text: some StringProtocol) {
        guard let bytes = Self.bytes(ofHexadecimal: Substring(text).utf8) else { return nil }
        self.init(algorithm, bytes)
    }

    private static func bytes(ofHexadecimal digits: Substring.UTF8View) -> [UInt8]? {
        var bytes: [UInt8] = []
        var high: UInt8?
        for digit in digits {
            guard let value = digit.hexadecimalValue else { return nil }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return high == nil ? bytes : nil
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
    /// Of these four the longer digest is the stronger one.
    package static func < (left: Self, right: Self) -> Bool { left.byteCount < right.byteCount }
}
