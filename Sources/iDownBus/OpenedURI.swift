// SPDX-License-Identifier: Apache-2.0

/// What the desktop hands over to be opened: a URL, or an `idown:` link around one.
///
/// A link is `idown:?url=` and the percent-encoded URL, and nothing else. Any web page can fire
/// one, so whatever is not exactly that is refused rather than guessed.
public struct OpenedURI: Hashable, Sendable {
    /// The URL to download; only the service judges it to the end.
    public let url: String

    /// Why a URI is not opened.
    public struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// What was wrong and what would be right; nothing of the URI.
        public let description: String
    }

    /// Takes a URI apart.
    ///
    /// - Throws: ``Refusal``.
    public init(_ text: String) throws(Refusal) {
        guard text.utf8.count <= Contract.maximumURLBytes else {
            throw Refusal(description: "a link has at most \(Contract.maximumURLBytes >> 10) KiB")
        }
        url = Self.hasPrefix(text.utf8[...], "idown:") ? try Self.target(of: text) : text
        guard Self.schemes.contains(where: { Self.hasPrefix(url.utf8[...], $0) }) else {
            throw Refusal(
                description:
                    "only http, https, ftp, ftps and sftp URLs are opened, by themselves or in"
                    + " an idown: link"
            )
        }
    }

    private static let schemes = ["http://", "https://", "ftp://", "ftps://", "sftp://"]

    private static let linkPrefix = "idown:?url="

    /// Decodes the URL in a link.
    private static func target(of link: String) throws(Refusal) -> String {
        guard hasPrefix(link.utf8[...], linkPrefix) else {
            throw Refusal(description: "a link has the form idown:?url=URL")
        }
        var bytes: [UInt8] = []
        var rest = link.utf8.dropFirst(linkPrefix.utf8.count)
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.popFirst().flatMap(hexValue),
                    let low = rest.popFirst().flatMap(hexValue)
                else { throw Refusal(description: "a % in a link comes before two hex digits") }
                bytes.append(high << 4 | low)
            } else if isUnreserved(byte) {
                bytes.append(byte)
            } else {
                // Here a second key would stand, or a URL that was not encoded and is cut off.
                throw Refusal(
                    description: "a link has one key, url, whose value is wholly percent-encoded"
                )
            }
        }
        guard let url = String(validating: bytes, as: UTF8.self) else {
            throw Refusal(description: "the URL in a link is UTF-8")
        }
        guard !url.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { throw Refusal(description: "the URL in a link has no control characters") }
        return url
    }

    /// Schemes are compared without regard to case (RFC 3986 section 3.1); so is all of a prefix,
    /// but the key.
    private static func hasPrefix(_ text: Substring.UTF8View, _ prefix: String) -> Bool {
        var text = text
        var isScheme = true
        for expected in prefix.utf8 {
            guard let byte = text.popFirst() else { return false }
            let isLetter = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            guard (isScheme && isLetter ? byte | 0x20 : byte) == expected else { return false }
            if expected == UInt8(ascii: ":") { isScheme = false }
        }
        return true
    }

    /// What encodeURIComponent leaves as it is (ECMA-262): RFC 3986's unreserved characters and
    /// four marks that separate nothing.
    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~!*'()".utf8.contains(byte)
        }
    }

    private static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
