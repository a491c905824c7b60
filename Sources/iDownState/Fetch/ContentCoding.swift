// SPDX-License-Identifier: Apache-2.0

/// A content coding that idown takes off a body (RFC 9110 section 8.4.1, RFC 7932, RFC 8878).
package enum ContentCoding: String, CaseIterable, Sendable {
    case gzip
    case deflate
    case brotli = "br"
    case zstd

    /// The most codings of one body, because each costs memory; libcurl has the same limit.
    package static let mostInOneBody = 5

    /// Reads the value of a Content-Encoding field.
    ///
    /// - Parameter field: the field in small letters, members separated by commas or blanks.
    /// - Returns: the codings in the order in which they were applied, none for `identity`; nil
    ///   where one of them is unknown.
    package static func list(_ field: String) -> [ContentCoding]? {
        let words = field.split { $0 == "," || $0 == " " }.filter { $0 != "identity" }
        // RFC 9110 section 8.4.1.3: `x-gzip` is an old name of `gzip`.
        let codings = words.compactMap { Self(rawValue: $0 == "x-gzip" ? "gzip" : String($0)) }
        return codings.count == words.count ? codings : nil
    }
}
