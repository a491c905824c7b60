// SPDX-License-Identifier: Apache-2.0

/// A task's mirrors as one text, a URL a line: URLs in normal form have no line ends in them.
enum MirrorText {
    /// Nil for no mirrors.
    static func text(of mirrors: [String]) -> String? {
        mirrors.isEmpty ? nil : mirrors.joined(separator: "\n")
    }

    static func mirrors(of text: String) -> [String] {
        // By bytes, as they were joined: a line end and what follows may be one character.
        text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
    }
}
