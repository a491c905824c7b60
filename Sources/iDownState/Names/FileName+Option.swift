// SPDX-License-Identifier: Apache-2.0

/// Why a name that a client asked for is refused: the contract's `InvalidOption`.
package struct NameRefusal: Error, Hashable, Sendable {
    /// What is wrong and what would be right, for people.
    package let message: String
}

extension FileName {
    /// Takes a name from a client's `filename` option unchanged, or throws.
    ///
    /// A client gets the name that it asked for or an error, never a changed name.
    ///
    /// - Parameters:
    ///   - text: the option's value.
    ///   - limit: the longest name in bytes that the file system takes.
    /// - Throws: the reason why the name is refused.
    package init(option text: String, limit: Int = 255) throws(NameRefusal) {
        // First, because a text may have any length.
        let room = Self.room(within: limit)
        guard text.utf8.count <= room else {
            throw NameRefusal(message: "filename must have at most \(room) bytes.")
        }
        guard text.contains(where: { $0 != " " }) else {
            throw NameRefusal(message: "filename must not be empty or of blanks alone.")
        }
        // This covers "." and ".." as well.
        guard text.utf8.first != UInt8(ascii: ".") else {
            throw NameRefusal(
                message: "filename must not start with a dot, because that would hide the file."
            )
        }
        guard !text.utf8.contains(UInt8(ascii: "/")), !text.utf8.contains(UInt8(ascii: "\\")) else {
            throw NameRefusal(message: "filename must be one name without / and \\.")
        }
        guard !text.unicodeScalars.contains(where: \.misleads) else {
            throw NameRefusal(
                message: "filename must not contain control characters, line separators or bidi"
                    + " marks."
            )
        }
        self.init(trusted: text)
    }
}

extension Unicode.Scalar {
    /// Whether the character breaks lines or changes the text direction, which can disguise a name.
    fileprivate var misleads: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: properties.isBidiControl
        }
    }
}
