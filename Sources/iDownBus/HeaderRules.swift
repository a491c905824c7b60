// SPDX-License-Identifier: Apache-2.0

internal import DBus

/// The rules for request headers that a client gives.
package enum HeaderRules {
    static let maximumCount = 64

    /// The most bytes of a name and its value together, which common servers accept.
    static let maximumBytes = 8 << 10

    /// The most bytes of a browser's cookies; sites with a common login set many.
    static let maximumCookieBytes = 32 << 10

    /// The headers that idown sets itself, by their lowercase names.
    ///
    /// With a client's value, requests or the resumption of a download would break.
    private static let forbidden: [String: String] = Dictionary(
        uniqueKeysWithValues: [
            "Host", "Range", "Accept-Encoding", "Connection", "TE", "Transfer-Encoding",
            "Content-Length", "Upgrade",
        ].map { ($0.lowercased(), $0) }
    )

    private static let forbiddenPrefixes = ["If-", "Proxy-"]

    /// Decodes the option `headers`, keeping their order.
    ///
    /// - Throws: `InvalidOption`. The text never repeats a value, or an invalid name, which may be
    ///   a whole header line with a secret.
    static func headers(
        _ option: OptionName,
        _ value: Value
    ) throws(ManagerError) -> [AddOptions.Header] {
        guard case .dictionary("s", "s", let entries) = value else {
            throw option.refusal("must be of type a{ss}, not \(value.signature)")
        }
        guard entries.count <= maximumCount else {
            throw option.refusal("may hold at most \(maximumCount) headers, not \(entries.count)")
        }
        var headers: [AddOptions.Header] = []
        for entry in entries {
            guard case .string(let name) = entry.key, case .string(let value) = entry.value else {
                throw option.refusal("must be of type a{ss}")
            }
            if let reason = fault(name: name, value: value) {
                throw ManagerError(.invalidOption, "headers: \(reason)")
            }
            headers.append(AddOptions.Header(name: name, value: value))
        }
        return headers
    }

    /// Returns what is wrong with a header; nil if nothing is.
    static func fault(name: String, value: String) -> String? {
        guard isToken(name) else {
            return "a name may only contain letters, digits and !#$%&'*+-.^_`|~."
        }
        guard name.utf8.count + value.utf8.count <= maximumBytes else {
            return "a header must have at most \(maximumBytes) bytes."
        }
        guard isFieldValue(value) else { return "a value must not contain control characters." }
        let lowercased = name.lowercased()
        if let known = forbidden[lowercased] { return "idown sets \(known) itself, leave it out." }
        for prefix in forbiddenPrefixes where lowercased.hasPrefix(prefix.lowercased()) {
            return "idown sets headers that begin with \(prefix) itself, leave them out."
        }
        return nil
    }

    /// Returns whether a text is a token of RFC 9110 section 5.6.2.
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(tokenCharacters.contains)
    }

    private static let tokenCharacters = Set(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&'*+-.^_`|~".utf8
    )

    /// Returns whether a text is a field value of RFC 9110 section 5.5 without tabs, which are
    /// never needed.
    package static func isFieldValue(_ text: String) -> Bool {
        !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}
