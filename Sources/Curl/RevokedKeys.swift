// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The keys that a file of known hosts forbids (`@revoked`, sshd(8)), which libssh2 reads past.
enum RevokedKeys {
    /// No more of a file is read (16 MiB): what is larger is no list of hosts.
    private static let limit = 16 << 20

    /// Looks whether a key is forbidden, for whatever host.
    ///
    /// - Parameters:
    ///   - key: the key as it stands in such a file, in Base64.
    ///   - path: the file; one that cannot be read forbids nothing.
    /// - Returns: whether a line of it does.
    static func hold(_ key: String, in path: String?) -> Bool {
        guard let path, let file = fopen(path, "re") else { return false }
        defer { fclose(file) }
        var (line, capacity, read) = (UnsafeMutablePointer<CChar>?.none, 0, 0)
        defer { free(line) }
        while read < limit {
            let count = getline(&line, &capacity, file)
            guard count > 0, let line else { return false }
            read += count
            // Marker, hosts, kind and key, and perhaps a comment.
            let fields = UnsafeRawBufferPointer(start: line, count: count)
                .split(whereSeparator: { $0 <= 0x20 })
            guard fields.count >= 4, fields[0].elementsEqual("@revoked".utf8) else { continue }
            if fields[3].elementsEqual(key.utf8) { return true }
        }
        return false
    }
}
