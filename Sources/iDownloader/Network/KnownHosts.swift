// SPDX-License-Identifier: Apache-2.0

import CCrypto

/// Makes of a known_hosts file (sshd(8)) what libssh2 1.10 and libcurl 7.88 can use.
///
/// libcurl asks a host only for a key of the kind in the first line that names the host, or that is
/// hashed, although that line may be of another host. libssh2 stops reading at the first line that
/// it cannot parse. So a request gets the lines of its own host alone, in one list for each kind.
enum KnownHosts {
    /// The kinds of keys that libssh2 knows, in the order in which OpenSSH prefers them.
    private static let kinds = [
        "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
        "ssh-rsa", "ssh-dss",
    ]

    /// Returns lists of the known keys of a host, each with keys of one kind, the preferred first,
    /// and the keys that the file revokes for any host, in Base64.
    ///
    /// The last list is empty: with that one libssh2 talks to a host whose kinds of keys are all
    /// unknown, and the host is refused as an unknown one.
    ///
    /// - Parameters:
    ///   - host: the host's name or address in lowercase, without brackets.
    ///   - port: its port.
    ///   - bytes: the user's file.
    /// - Returns: the lists, each in the form of known_hosts, and the revoked keys.
    static func lists(
        of host: String,
        port: Int,
        in bytes: [UInt8]
    ) -> (known: [[UInt8]], revoked: Set<String>) {
        let lines = bytes.split(separator: UInt8(ascii: "\n")).compactMap(Line.init)
        let names = port == 22 ? [host] : ["[\(host)]:\(port)", host]
        // ssh(1) takes a key without a port where it knows none for the port.
        let known =
            names.lazy.map { name in lines.filter { $0.names(name) } }.first { !$0.isEmpty } ?? []
        let revoked = lines.filter { $0.mark == "@revoked" }.map(\.key)
        let keys = kinds.map { kind in known.filter { $0.kind == kind } }.filter { !$0.isEmpty }
        let lists = (keys + [[]]).map { lines in
            Array(lines.map { $0.text(naming: names[0]) }.joined().utf8)
        }
        return (lists, Set(revoked))
    }

    /// A line with a key that libssh2 can read.
    private struct Line {
        /// What the key is for, other than to know the host: `@revoked` or `@cert-authority`.
        let mark: String?
        /// The hosts, which may be hashed.
        let hosts: String
        let kind: String
        /// The key in Base64.
        let key: String

        /// Reads a line; nil for a remark, and for one that libssh2 cannot read.
        init?(_ bytes: ArraySlice<UInt8>) {
            let words = bytes.split { [UInt8(ascii: " "), 9, 13].contains($0) }
            var fields = words.map { String(decoding: $0, as: UTF8.self) }
            guard let first = fields.first else { return nil }
            mark = first.hasPrefix("@") ? fields.removeFirst() : nil
            guard fields.count >= 3 else { return nil }
            (hosts, kind, key) = (fields[0], fields[1], fields[2])
            // A key begins with its kind (RFC 4253 section 6.6).
            guard kinds.contains(kind), let key = Base64.decode(Array(key.utf8)[...]),
                key.count > 4 + kind.utf8.count, key.dropFirst(4).starts(with: kind.utf8)
            else { return nil }
        }

        func text(naming host: String) -> String { "\(host) \(kind) \(key)\n" }

        /// Whether the key is to know this host by, which has the form `host` or `[host]:port`.
        func names(_ name: String) -> Bool {
            guard mark == nil else { return false }
            guard hosts.hasPrefix("|") else {
                return hosts.split(separator: ",").contains { $0.lowercased() == name }
            }
            // `|1|salt|hash`: HMAC-SHA1 of the name.
            let parts = hosts.split(separator: "|").map { Array($0.utf8)[...] }
            guard parts.count == 3, parts[0].elementsEqual("1".utf8),
                let salt = Base64.decode(parts[1]), let hash = Base64.decode(parts[2])
            else { return false }
            let name = Array(name.utf8)
            let code = [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { code, count in
                var length: UInt32 = 0
                let made = HMAC(
                    EVP_sha1(),
                    salt,
                    CInt(salt.count),
                    name,
                    name.count,
                    code.baseAddress,
                    &length
                )
                count = made == nil ? 0 : Int(length)
            }
            return code.elementsEqual(hash)
        }
    }
}
