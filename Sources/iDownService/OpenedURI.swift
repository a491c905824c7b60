// SPDX-License-Identifier: Apache-2.0

import iDownBus

/// What the desktop hands over to be opened, taken apart and not judged yet.
///
/// A link is `idown:?url=` and the percent-encoded URL, and nothing else. Any web page can fire
/// one, so whatever is not exactly that is refused rather than guessed.
enum OpenedURI: Hashable, Sendable {
    /// A URL as the user chose it, of whatever scheme.
    case url(String)
    /// The URL in a link.
    case link(String)
    /// The absolute path of a file on this machine.
    case file(String)

    /// Takes a URI apart.
    ///
    /// - Throws: `InvalidURL`; the text repeats nothing of the URI.
    init(_ text: String) throws(ManagerError) {
        guard text.utf8.count <= Contract.maximumURLBytes else {
            throw ManagerError(
                .limitExceeded,
                "A link may have at most \(Contract.maximumURLBytes >> 10) KiB."
            )
        }
        if Self.hasPrefix(text.utf8[...], "idown:") {
            self = .link(try Self.target(of: text))
        } else if Self.hasPrefix(text.utf8[...], "file:") {
            self = .file(try Self.path(of: text))
        } else {
            self = .url(text)
        }
    }

    // MARK: Links

    private static let linkPrefix = "idown:?url="

    /// Decodes the URL in a link.
    private static func target(of link: String) throws(ManagerError) -> String {
        guard hasPrefix(link.utf8[...], linkPrefix) else {
            throw refusal("An idown link must have the form idown:?url=URL.")
        }
        // A second key, or a URL that was not encoded and is cut off, would stand here bare.
        let url = try decode(link.utf8.dropFirst(linkPrefix.utf8.count), keeping: isUnreserved)
        guard !url.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { throw refusal("The URL in a link must not contain control characters.") }
        guard url.first?.isWhitespace != true, url.last?.isWhitespace != true else {
            throw refusal("The URL in a link must not begin or end with a blank.")
        }
        return url
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

    // MARK: Files

    /// Decodes the path in a file URI: RFC 8089, of this machine only.
    private static func path(of uri: String) throws(ManagerError) -> String {
        var rest = uri.utf8.dropFirst("file:".utf8.count)
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            if hasPrefix(rest, "localhost/") { rest = rest.dropFirst("localhost".utf8.count) }
        }
        guard rest.first == UInt8(ascii: "/"), !rest.starts(with: "//".utf8) else {
            throw refusal("A local file must have the form file:///PATH.")
        }
        let path = try decode(rest) { !"?#%".utf8.contains($0) }
        guard !path.utf8.contains(0) else { throw refusal("A path must not contain a zero byte.") }
        return path
    }

    // MARK: Both

    /// Decodes once; every other byte has to be one of those that may stand bare.
    private static func decode(
        _ text: Substring.UTF8View,
        keeping mayStandBare: (UInt8) -> Bool
    ) throws(ManagerError) -> String {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.popFirst().flatMap(hexValue),
                    let low = rest.popFirst().flatMap(hexValue)
                else { throw refusal("In a link % must be followed by two hexadecimal digits.") }
                bytes.append(high << 4 | low)
            } else if mayStandBare(byte) {
                bytes.append(byte)
            } else {
                throw refusal(
                    "A link may only have the key url, with the whole URL percent-encoded; a"
                        + " file's URI may only have a path."
                )
            }
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else {
            throw refusal("What a link percent-encodes must be UTF-8.")
        }
        return decoded
    }

    private static func refusal(_ text: String) -> ManagerError {
        ManagerError(.invalidURL, text)
    }

    /// Schemes and hosts are compared without regard to case (RFC 3986 sections 3.1 and 3.2.2);
    /// so is all of a prefix, but the key.
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

    private static func hexValue(_ byte: UInt8) -> UInt8? {
        Character(UnicodeScalar(byte)).hexDigitValue.map(UInt8.init)
    }
}
