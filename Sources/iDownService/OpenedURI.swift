// SPDX-License-Identifier: Apache-2.0

import iDownBus
import iDownState

/// A URI that the desktop passes on to be opened: taken apart, but not checked yet.
///
/// A link is `idown:?url=` and the percent-encoded URL, and nothing else. Any web page can open a
/// link, so anything that is not exactly that is refused rather than guessed.
enum OpenedURI: Hashable, Sendable {
    /// A URL of any scheme, as the user chose it.
    case url(String)
    /// The URL in a link.
    case link(String)
    /// The absolute path of a file on this machine.
    case file(String)

    /// Takes a URI apart.
    ///
    /// - Throws: `InvalidURL` or `LimitExceeded`; the text repeats nothing of the URI.
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

    /// Decodes the URL in a link.
    private static func target(of link: String) throws(ManagerError) -> String {
        let query = link.utf8.dropFirst("idown:".utf8.count)
        guard query.starts(with: "?url=".utf8) else {
            throw refusal("An idown link must have the form idown:?url=URL.")
        }
        // This refuses a second key, and a URL that was not encoded and is therefore cut off.
        let url = try decode(query.dropFirst("?url=".utf8.count), keeping: isUnreserved)
        guard !url.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { throw refusal("The URL in a link must not contain control characters.") }
        guard url.first?.isWhitespace != true, url.last?.isWhitespace != true else {
            throw refusal("The URL in a link must not begin or end with a blank.")
        }
        return url
    }

    /// Returns whether encodeURIComponent leaves a byte as it is (ECMA-262): RFC 3986's unreserved
    /// characters and five marks that separate nothing.
    private static func isUnreserved(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || "-._~!*'()".utf8.contains(byte)
    }

    // MARK: Files

    /// Decodes the path in a file URI (RFC 8089) of this machine.
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

    // MARK: Links and files

    /// Decodes the percent-encoding once; every other byte has to satisfy `mayStandBare`.
    private static func decode(
        _ text: Substring.UTF8View,
        keeping mayStandBare: (UInt8) -> Bool
    ) throws(ManagerError) -> String {
        let isMark = { (byte: UInt8) in byte == UInt8(ascii: "%") }
        guard text.allSatisfy({ isMark($0) || mayStandBare($0) }) else {
            throw refusal(
                "A link may only have the key url, with the whole URL percent-encoded; a file's URI"
                    + " may only have a path."
            )
        }
        let bytes = PercentEncoding.decode(text)
        // Each mark with its digits becomes one byte; one without them stays as it is.
        guard bytes.count == text.count - 2 * text.count(where: isMark) else {
            throw refusal("In a link % must be followed by two hexadecimal digits.")
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else {
            throw refusal("What a link percent-encodes must be UTF-8.")
        }
        return decoded
    }

    private static func refusal(_ text: String) -> ManagerError { ManagerError(.invalidURL, text) }

    /// Returns whether a text has a prefix, which is in lowercase.
    ///
    /// Case does not matter in schemes and hosts (RFC 3986 sections 3.1 and 3.2.2).
    private static func hasPrefix(_ text: Substring.UTF8View, _ prefix: String) -> Bool {
        text.starts(with: prefix.utf8) { $0 == $1 || ($0.isLetter && $0 | 0x20 == $1) }
    }
}
