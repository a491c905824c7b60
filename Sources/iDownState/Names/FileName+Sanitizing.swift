// SPDX-License-Identifier: Apache-2.0

// The standard library normalises strings to compare them, but shows the result under an
// underscore only, as it does for swift-foundation. FoundationEssentials has no NFC, and the
// whole of Foundation would bring ICU along for this one call.
@_spi(_Unicode) import Swift

extension FileName {
    /// Makes a safe name of any text; nil where nothing remains.
    ///
    /// A slash or a backslash becomes `_`: whoever has a path takes its last element before.
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

    /// The most scalars of a text that are looked at, of which the last ones may be an extension.
    ///
    /// A URL may be 64 KiB long, and one call may add 100,000 of them.
    private static let mostRead = 512
    private static let mostReadOfEnd = 128

    /// The scalars of a text; of a long one those at both ends, because the name can have no more.
    private static func ends(of text: String) -> [Unicode.Scalar] {
        let scalars = text.unicodeScalars
        guard text.utf8.count > mostRead, scalars.count > mostRead else { return Array(scalars) }
        return scalars.prefix(mostRead - mostReadOfEnd) + scalars.suffix(mostReadOfEnd)
    }

    /// Takes away what a name must not start with (hidden files, options of commands, blanks) and
    /// what it must not end with (Windows drops it, people do not see it).
    private init?(trimming text: String) {
        // Scalars, not characters: a dot under an accent is still a dot to the file system.
        let leading: Set<Unicode.Scalar> = [".", "-", " "]
        let trailing: Set<Unicode.Scalar> = [".", " "]
        var scalars = text.unicodeScalars.drop { leading.contains($0) }
        while let last = scalars.last, trailing.contains(last) { scalars.removeLast() }
        guard !scalars.isEmpty else { return nil }
        self.init(trusted: String(scalars))
    }

    /// Names that mean devices on Windows, where the file may be taken one day; `CON.txt` is one.
    ///
    /// Source: Microsoft's "Naming Files, Paths, and Namespaces"; the superscript digits count.
    private static let deviceNames: Set<String> = {
        var names: Set<String> = ["con", "prn", "aux", "nul", "conin$", "conout$"]
        for digit in "123456789¹²³" {
            names.insert("com\(digit)")
            names.insert("lpt\(digit)")
        }
        return names
    }()

    private static let longestDeviceName = "conout$".utf8.count

    private var avoidingDeviceName: FileName {
        // Bytes, since a name may be long: no part of another character is a dot or a blank.
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
    /// What stands for this scalar in a file name; nil where nothing does.
    fileprivate var tamed: Unicode.Scalar? {
        guard !isASCII else { return tamedASCII }
        return switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator:
            "_"
        // What cannot be seen can only mislead: marks of direction, joiners, soft hyphens, tags.
        case .format:
            nil
        case .spaceSeparator:
            " "
        default:
            visible
        }
    }

    private var tamedASCII: Unicode.Scalar {
        switch self {
        case "\0"..<" ", "\u{7F}", "/", "\\": "_"
        default: self
        }
    }

    private var visible: Unicode.Scalar? {
        if properties.isDefaultIgnorableCodePoint || properties.isNoncharacterCodePoint {
            return nil
        }
        // What a decoder puts where it could not read.
        return self == "\u{FFFD}" ? "_" : self
    }
}
