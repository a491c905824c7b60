// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The keys that a known hosts file revokes (`@revoked`, sshd(8)), which libssh2 ignores.
enum RevokedKeys {
    /// The most bytes to read of a file (16 MiB): a larger one is not a list of hosts.
    private static let limit = 16 << 20

    /// Whether a file revokes a key, for any host.
    ///
    /// - Parameters:
    ///   - key: the key in Base64, as in the file.
    ///   - path: the file; one that cannot be read revokes nothing.
    /// - Returns: whether a line revokes the key.
    static func hold(_ key: String, in path: String?) -> Bool {
        guard let path, let file = fopen(path, "re") else { return false }
        defer { fclose(file) }
        var (line, capacity, read) = (UnsafeMutablePointer<CChar>?.none, 0, 0)
        defer { free(line) }
        while read < limit {
            let count = getline(&line, &capacity, file)
            guard count > 0, let line else { return false }
            read += count
            // Marker, hosts, type and key, and perhaps a comment.
            let fields = UnsafeRawBufferPointer(start: line, count: count)
                .split(whereSeparator: { $0 <= 0x20 })
            guard fields.count >= 4, fields[0].elementsEqual("@revoked".utf8) else { continue }
            if fields[3].elementsEqual(key.utf8) { return true }
        }
        return false
    }
}
