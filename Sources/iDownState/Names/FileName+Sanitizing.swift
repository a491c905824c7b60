// SPDX-License-Identifier: Apache-2.0

// The standard library normalises strings to compare them, but offers the result only under an
// underscore, as to swift-foundation. FoundationEssentials has no NFC, and all of Foundation would
// bring ICU along for this one call.
@_spi(_Unicode) import Swift

extension FileName {
    /// Makes a safe name from any text; returns nil where nothing remains.
    ///
    /// A slash or a backslash becomes `_`: the caller has to take the last element of a path first.
    ///
    /// - Parameters:
    ///   - text: the name as the network gave it.
    ///   - limit: the longest name in bytes that the file system takes.
    package init?(sanitizing text: String, limit: Int = 255) {
        let ends = Self.ends(of: text)
        let visible = String(String.UnicodeScalarView(ends.compactMap(\.tamed)))
        let composed =
            visible.utf8.allSatisfy { $0 < 0x80 }
            ? visible : String(String.UnicodeScalarView(visible._nfc))
        guard let trimmed = FileName(trimming: composed) else { return nil }
        let whole = trimmed.avoidingDeviceName
        let room = Self.room(within: limit)
        guard whole.text.utf8.count > room else {
            self = whole
            return
        }
        let pathExtension = whole.pathExtension
        let stem = whole.stem.prefix(fitting: room - pathExtension.utf8.count)
        guard let cut = FileName(trimming: stem)?.avoidingDeviceName else { return nil }
        self.init(trusted: cut.text + pathExtension)
    }

    /// How many scalars of a text are read; the last ``mostReadOfEnd`` of them may be an extension.
    ///
    /// A URL may be 64 KiB long, and one call may add 100,000 of them.
    private static let mostRead = 512
    private static let mostReadOfEnd = 128

    /// Returns the scalars of a text; of a long one those at both ends, which are enough for a
    /// name.
    private static func ends(of text: String) -> [Unicode.Scalar] {
        let scalars = text.unicodeScalars
        guard text.utf8.count > mostRead, scalars.count > mostRead else { return Array(scalars) }
        return scalars.prefix(mostRead - mostReadOfEnd) + scalars.suffix(mostReadOfEnd)
    }

    /// Removes what a name must not start with (hidden files, command options, blanks) or end with
    /// (Windows drops it, and people do not see it); returns nil where nothing remains.
    private init?(trimming text: String) {
        // By scalars, not characters: a dot under an accent is still a dot to the file system.
        let leading: Set<Unicode.Scalar> = [".", "-", " "]
        let trailing: Set<Unicode.Scalar> = [".", " "]
        var scalars = text.unicodeScalars.drop { leading.contains($0) }
        while let last = scalars.last, trailing.contains(last) { scalars.removeLast() }
        guard !scalars.isEmpty else { return nil }
        self.init(trusted: String(scalars))
    }

    /// Names that mean devices on Windows, where the file may be copied one day; so does `CON.txt`.
    ///
    /// Source: Microsoft's "Naming Files, Paths, and Namespaces", superscript digits included.
    private static let deviceNames = Set<String>(
        ["con", "prn", "aux", "nul", "conin$", "conout$"]
            + "123456789¹²³".flatMap { ["com\($0)", "lpt\($0)"] }
    )

    private static let longestDeviceName = "conout$".utf8.count

    private var avoidingDeviceName: FileName {
        // By bytes, because a name may be long: no part of another character is a dot or a blank.
        let beforeDot = text.utf8.prefix { $0 != UInt8(ascii: ".") }
        guard let last = beforeDot.lastIndex(where: { $0 != UInt8(ascii: " ") })
        else { return self }
        let device = beforeDot[...last]
        guard device.count <= Self.longestDeviceName else { return self }
        return Self.deviceNames.contains(Substring(device).lowercased())
            ? FileName(trusted: "_" + text) : self
    }
}

extension Unicode.Scalar {
    /// The scalar that replaces this one in a file name; nil where it is dropped.
    fileprivate var tamed: Unicode.Scalar? {
        switch self {
        // Decoders put the last one where bytes were invalid.
        case "/", "\\", "\u{FFFD}": return "_"
        // A fast path: ASCII needs no table.
        case " "..."~": return self
        default: break
        }
        return switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: "_"
        // Invisible characters can only mislead: direction marks, joiners, soft hyphens, tags.
        case .format: nil
        case .spaceSeparator: " "
        case _ where properties.isDefaultIgnorableCodePoint || properties.isNoncharacterCodePoint:
            nil
        default: self
        }
    }
}
