// SPDX-License-Identifier: Apache-2.0

import iDownState

/// Reads the first line of a response (RFC 9112 section 4), which libcurl makes up for HTTP/2.
enum StatusLine {
    /// Returns the status, 100…999; nil if the line is not of HTTP/1.0 or newer.
    static func status(_ line: ArraySlice<UInt8>) -> Int? {
        let words = line.split(separator: 0x20, maxSplits: 2)
        guard words.count >= 2, isKnown(words[0].dropFirst("HTTP/".utf8.count)) else { return nil }
        let digits = words[1]
        guard digits.count == 3, let status = digits.decimal, status >= 100 else { return nil }
        return Int(status)
    }

    /// Whether the version is `1.0`, `1.1`, `2`, `3` or later, not `0.9`.
    private static func isKnown(_ version: ArraySlice<UInt8>) -> Bool {
        guard let first = version.first, first.isDigit, first != UInt8(ascii: "0") else {
            return false
        }
        return version.allSatisfy { $0.isDigit || $0 == UInt8(ascii: ".") }
    }
}
