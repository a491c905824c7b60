// SPDX-License-Identifier: Apache-2.0

/// Percent-encoding of bytes, whatever they mean (RFC 3986 section 2.1).
package enum PercentEncoding {
    /// Decodes once; a `%` without two hexadecimal digits stays as it is.
    package static func decode(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"),
                let high = rest.first?.hexadecimalValue,
                let low = rest.dropFirst().first?.hexadecimalValue
            {
                decoded.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                decoded.append(byte)
            }
        }
        return decoded
    }

    /// Encodes bytes beyond ASCII only, to turn a raw header field into a URL.
    package static func encodeNonASCII(_ bytes: some Collection<UInt8>) -> String {
        encode(bytes) { $0 < 0x80 }
    }

    /// Encodes everything but unreserved characters and slashes, for the path of a URL.
    package static func encodePath(_ path: String) -> String {
        encode(path.utf8) { $0.isLetterOrDigit || "/-._~".utf8.contains($0) }
    }

    private static func encode(
        _ bytes: some Collection<UInt8>,
        except isKept: (UInt8) -> Bool
    ) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        encoded.reserveCapacity(bytes.count)
        for byte in bytes {
            if isKept(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}

extension UInt8 {
    /// The value of a hexadecimal digit; nil for anything else.
    package var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
