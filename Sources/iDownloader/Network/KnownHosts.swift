// SPDX-License-Identifier: Apache-2.0

/// Makes of a known_hosts file (sshd(8)) what libssh2 1.10 and libcurl 7.88 can use.
///
/// libssh2 stops reading at the first line that it cannot parse, and takes the CR of a line's end for a
/// part of the key. libcurl asks a host for a key of the kind in the first line that names it, and
/// libssh2 1.10 cannot use an ssh-rsa key at a server of today: such lines come last.
enum KnownHosts {
    private static let kinds: Set<String> = [
        "ssh-rsa", "ssh-dss", "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384",
        "ecdsa-sha2-nistp521",
    ]

    /// Returns the lines that can be read, those with ssh-rsa keys last.
    static func readable(_ bytes: [UInt8]) -> [UInt8] {
        var (first, last): ([UInt8], [UInt8]) = ([], [])
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            var fields = line.split { $0 == UInt8(ascii: " ") || $0 == 9 || $0 == 13 }
            guard fields.count >= 3 else { continue }
            let mark = fields[0].first == UInt8(ascii: "@") ? [fields.removeFirst()] : []
            guard fields.count >= 3 else { continue }
            let kind = String(decoding: fields[1], as: UTF8.self)
            guard kinds.contains(kind), isKey(fields[2], of: kind) else { continue }
            let whole = (mark + fields).joined(separator: [UInt8(ascii: " ")]) + [10]
            if kind == "ssh-rsa" { last += whole } else { first += whole }
        }
        return first + last
    }

    /// Whether this is a key in base 64, which begins with its kind (RFC 4253 section 6.6).
    private static func isKey(_ text: ArraySlice<UInt8>, of kind: String) -> Bool {
        guard let key = Base64.decode(text), key.count > 4 + kind.utf8.count else { return false }
        return key.dropFirst(4).starts(with: kind.utf8)
    }
}
