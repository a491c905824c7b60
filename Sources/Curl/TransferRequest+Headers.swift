// SPDX-License-Identifier: Apache-2.0

extension TransferRequest {
    /// Whether a field has this name, given in small letters.
    func hasHeader(_ name: String) -> Bool { headers.contains { $0.name.lowercased() == name } }

    /// The fields for libcurl (CURLOPT_HTTPHEADER(3)): a name followed only by a colon would remove
    /// the field, so an empty value is written as a semicolon.
    var headerLines: [String] {
        let encoding = hasHeader("accept-encoding") ? [] : ["Accept-Encoding: identity"]
        return encoding
            + headers.map { name, value in
                value.allSatisfy { $0 == " " } ? "\(name);" : "\(name): \(value)"
            }
    }

    /// Whether a field can be sent without turning into two fields, or a body.
    static func canSend(_ field: (name: String, value: String)) -> Bool {
        !field.name.isEmpty && field.name.utf8.allSatisfy(token.contains) && field.value.isOneLine
    }

    /// The characters of a token (RFC 9110 section 5.6.2).
    private static let token = Set(
        "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8
    )
}

extension String {
    /// Whether the text has no control character except tab, so that it cannot leave its line.
    var isOneLine: Bool { utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 } }
}
