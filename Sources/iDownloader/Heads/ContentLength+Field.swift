// SPDX-License-Identifier: Apache-2.0

import iDownState

extension ContentLength {
    /// Reads the field (RFC 9110 section 8.6).
    ///
    /// The same length given several times counts as one; anything other than digits is invalid.
    init(values: [[UInt8]]) {
        let lengths = values.flatMap {
            $0.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        }.map { $0.trimmed.decimal }
        guard let first = lengths.first else {
            self = .unknown
            return
        }
        guard let length = first, lengths.allSatisfy({ $0 == length }) else {
            self = .invalid
            return
        }
        self = .bytes(length)
    }
}
