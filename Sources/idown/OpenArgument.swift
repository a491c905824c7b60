// SPDX-License-Identifier: Apache-2.0

import iDownBus
import iDownView

/// Reads the arguments of `idown open`: IDs, links, and paths of metalink files.
///
/// The service checks links; a path becomes the URI that the service takes.
enum OpenArgument {
    /// Returns the download's ID where the argument is one, or a task's object path; else nil.
    static func id(in text: String) -> String? {
        let id = TaskPath.id(meantBy: text)
        return TaskPath.isID(id) ? id : nil
    }

    /// Returns the argument as a URI.
    static func uri(for text: String) throws -> String {
        guard !hasScheme(text) else { return text }
        guard looksLikeMetalink(text) else {
            let mistake = DownloadArgument.mistake(in: text) ?? "\(ShownURL(text)) is not a URL"
            Output.complain(mistake)
            throw ExitStatus.refusedURL.exit
        }
        return fileURI(try WorkingFolder.absolute(text))
    }

    /// Returns the URI of a file: RFC 8089.
    static func fileURI(_ path: String) -> String { "file://" + encoded(path) }

    /// Whether the text begins with a scheme (RFC 3986 section 3.1); `./a:b.meta4` does not.
    private static func hasScheme(_ text: String) -> Bool {
        let scheme = text.utf8.prefix { $0 != UInt8(ascii: ":") }
        guard scheme.count < text.utf8.count, let first = scheme.first else { return false }
        return isLetter(first)
            && scheme.allSatisfy { isLetter($0) || "0123456789+-.".utf8.contains($0) }
    }

    private static func looksLikeMetalink(_ text: String) -> Bool {
        let name = text.lowercased()
        return name.hasSuffix(".meta4") || name.hasSuffix(".metalink")
    }

    /// Percent-encodes all but unreserved characters and slashes (RFC 3986 section 2.3).
    private static func encoded(_ path: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in path.utf8 {
            if isLetter(byte) || "0123456789/-._~".utf8.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
