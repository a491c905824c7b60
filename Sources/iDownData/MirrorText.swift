// SPDX-License-Identifier: Apache-2.0

/// Stores a task's mirrors as one text with a URL per line; normalized URLs contain no line ends.
enum MirrorText {
    /// Returns the text; nil for no mirrors.
    static func text(of mirrors: [String]) -> String? {
        mirrors.isEmpty ? nil : mirrors.joined(separator: "\n")
    }

    static func mirrors(of text: String) -> [String] {
        // Split by bytes, because Swift may take a line end and what follows for one character.
        text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
    }
}
