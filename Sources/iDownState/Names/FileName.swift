// SPDX-License-Identifier: Apache-2.0

/// The name of a finished file: one path element that is safe to make, to show and to type.
package struct FileName: Hashable, Sendable {
    package let text: String

    /// Takes text that is known to be one safe path element.
    package init(trusted text: String) { self.text = text }

    /// How many bytes stay free below a file system's limit: a name may get ` (999)` where it is
    /// taken, and has `.part` until the file is complete.
    package static let suffixRoom = 11

    /// Returns the limits to try in turn where a name within the limit is still too long: stacked
    /// file systems allow less than they report (eCryptfs 143 bytes, encfs about 190).
    package static func limits(from limit: Int) -> [Int] {
        [limit] + [143, 64].filter { $0 < limit }
    }

    /// Returns how many bytes a name may have where the file system takes `limit`.
    ///
    /// No file system in use takes less than 64 bytes; the minimum keeps room for an extension.
    package static func room(within limit: Int) -> Int { max(limit, 64) - suffixRoom }
}

extension FileName {
    /// The extension with its dot, and for a compressed file also the extension before it; empty
    /// where there is none.
    package var pathExtension: String { String(text[extensionStart...]) }

    /// The name without its extension; never empty.
    package var stem: String { String(text[..<extensionStart]) }

    /// Extensions of compressed files: `notes.tar.gz` has one extension, `.tar.gz`.
    private static let packers: Set<String> = [
        "br", "bz2", "gz", "lz", "lz4", "lzma", "lzo", "xz", "z", "zst",
    ]

    private var extensionStart: String.Index {
        guard let last = Self.extensionDot(in: text[...]) else { return text.endIndex }
        let outer = text[text.index(after: last)...].lowercased()
        guard Self.packers.contains(outer), let inner = Self.extensionDot(in: text[..<last]) else {
            return last
        }
        return inner
    }

    /// Returns the dot of an extension: 1 to 16 ASCII letters and digits with at least one letter,
    /// so that the `2` of `release-1.2` is not an extension.
    private static func extensionDot(in text: Substring) -> String.Index? {
        // By bytes, and only as many as an extension can have, because a name may be long.
        let end = text.utf8.suffix(17)
        guard let dot = end.lastIndex(of: UInt8(ascii: ".")), dot != text.startIndex
        else { return nil }
        let tail = text[text.index(after: dot)...].utf8
        guard (1...16).contains(tail.count), tail.allSatisfy(\.isLetterOrDigit),
            tail.contains(where: \.isLetter)
        else { return nil }
        return dot
    }
}

extension FileName {
    /// Returns the n-th name to try: ` (n)` goes before the extension, and the stem is cut where
    /// the number would make the name too long.
    ///
    /// - Parameters:
    ///   - n: the number; 0 returns the name itself.
    ///   - limit: the longest name in bytes that the file system takes.
    /// - Returns: a name that fits together with `.part`.
    package func numbered(_ n: Int, limit: Int = 255) -> FileName {
        guard n > 0 else { return self }
        let tail = " (\(n))" + pathExtension
        let room = max(limit, 64) - ".part".utf8.count - tail.utf8.count
        return FileName(trusted: stem.prefix(fitting: max(room, 1)) + tail)
    }

    /// The name for a Windows file system, which does not take `<>:"|?*\`.
    package var withoutSpecialCharacters: FileName {
        let special: Set<Unicode.Scalar> = ["<", ">", ":", "\"", "|", "?", "*", "\\"]
        let scalars = text.unicodeScalars.map { special.contains($0) ? "_" : $0 }
        return FileName(trusted: String(String.UnicodeScalarView(scalars)))
    }
}

extension StringProtocol {
    /// Returns as many whole characters as fit into this many bytes of UTF-8.
    ///
    /// Where not even the first character fits (a letter with hundreds of accents), it returns as
    /// many scalars.
    package func prefix(fitting bytes: Int) -> String {
        var room = bytes
        let characters = prefix { character in
            room -= character.utf8.count
            return room >= 0
        }
        guard characters.isEmpty else { return String(characters) }
        room = bytes
        let scalars = unicodeScalars.prefix { scalar in
            room -= UTF8.width(scalar)
            return room >= 0
        }
        return String(String.UnicodeScalarView(scalars))
    }
}

extension UInt8 {
    package var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

    package var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    package var isLetterOrDigit: Bool { isLetter || isDigit }
}
