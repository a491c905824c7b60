// SPDX-License-Identifier: Apache-2.0

internal import DBus

/// Which request headers a client may give.
enum HeaderRules {
    static let maximumCount = 64

    /// Name and value together: what common servers take for one line.
    static let maximumBytes = 8 << 10

    /// They belong to the connection or to the resume logic; given by a client they would break it.
    private static let forbidden: [String: String] = Dictionary(
        uniqueKeysWithValues: [
            "Host", "Range", "Accept-Encoding", "Connection", "TE", "Transfer-Encoding",
            "Content-Length", "Upgrade",
        ].map { ($0.lowercased(), $0) }
    )

    private static let forbiddenPrefixes = ["If-", "Proxy-"]

    /// Reads the option `headers`, in the order in which they came.
    ///
    /// - Throws: `InvalidOption`, without any value, and without a name that is none: it may well
    ///   be a whole line with its secret.
    static func headers(_ value: Value) throws(ManagerError) -> [AddOptions.Header] {
        guard case .dictionary("s", "s", let entries) = value else {
            throw ManagerError(
                .invalidOption,
                "headers is of type a{ss}, not \(value.signature)"
            )
        }
        guard entries.count <= maximumCount else {
            throw ManagerError(
                .invalidOption,
                "headers holds at most \(maximumCount) headers, not \(entries.count)"
            )
        }
        var headers: [AddOptions.Header] = []
        for entry in entries {
            guard case .string(let name) = entry.key, case .string(let value) = entry.value else {
                throw ManagerError(.invalidOption, "headers is of type a{ss}")
            }
            if let reason = fault(name: name, value: value) {
                throw ManagerError(.invalidOption, "headers: \(reason)")
            }
            headers.append(AddOptions.Header(name: name, value: value))
        }
        return headers
    }

    /// What is wrong with a header; nil if nothing is.
    static func fault(name: String, value: String) -> String? {
        guard isToken(name) else {
            return "a name is made of letters, digits and !#$%&'*+-.^_`|~"
        }
        guard name.utf8.count + value.utf8.count <= maximumBytes else {
            return "a header has at most \(maximumBytes) bytes"
        }
        guard isFieldValue(value) else { return "a value has no control characters" }
        let lowercased = name.lowercased()
        if let known = forbidden[lowercased] { return "\(known) belongs to the transfer itself" }
        for prefix in forbiddenPrefixes where lowercased.hasPrefix(prefix.lowercased()) {
            return "names with \(prefix) belong to the transfer itself"
        }
        return nil
    }

    /// RFC 9110 section 5.6.2.
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    /// RFC 9110 section 5.5, and no horizontal tab either: nobody needs one.
    static func isFieldValue(_ text: String) -> Bool {
        !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}
