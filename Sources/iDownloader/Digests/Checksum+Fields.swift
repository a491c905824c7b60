// SPDX-License-Identifier: Apache-2.0

import iDownState

extension Checksum {
    /// Returns the strongest digest of the whole file in a response's fields; nil if there is none.
    ///
    /// `Repr-Digest` and `Digest` cover the whole file even in a partial response. `Content-Digest`
    /// and `Content-MD5` cover the body, so they count only if the body is the whole file. Unknown
    /// algorithms and unreadable values are ignored, because digests are optional.
    ///
    /// - Parameters:
    ///   - fields: the fields of one response.
    ///   - status: the status of the response.
    /// - Returns: the digest that the file must have.
    static func strongest(in fields: FieldList, status: Int) -> Checksum? {
        var found = structured(fields.all("repr-digest")) + instance(fields.members("digest"))
        if status == 200 || status == 203 {
            found += structured(fields.all("content-digest"))
            found +=
                fields.only("content-md5").flatMap { checksum("md5", $0[...]) }.map { [$0] }
                ?? []
        }
        return found.max { $0.algorithm < $1.algorithm }
    }

    /// Reads members such as `sha-256=:base64:` (RFC 9530 sections 2 and 3).
    ///
    /// They form a dictionary (RFC 8941 section 3.2). Members of other types are ignored; of a key
    /// given twice, the last one counts.
    private static func structured(_ values: [[UInt8]]) -> [Checksum] {
        var found: [String: Checksum] = [:]
        for member in values.flatMap(\.splitAtCommas).map(\.trimmed) {
            // An invalid key makes the whole field count as absent.
            guard let first = member.first, "*abcdefghijklmnopqrstuvwxyz".utf8.contains(first)
            else { return [] }
            let key = member.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }
            let parts = member[key.endIndex...]
                .split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            let isBytes =
                parts.count > 2 && parts[0].elementsEqual("=".utf8)
                && (parts[2].isEmpty || parts[2].first == UInt8(ascii: ";"))
            let name = String(decoding: key, as: UTF8.self)
            found[name] = isBytes ? checksum(name, parts[1]) : nil
        }
        return Array(found.values)
    }

    /// Reads `SHA-256=base64` (RFC 3230 section 4.3.2, RFC 5843 section 2.2).
    private static func instance(_ members: [ArraySlice<UInt8>]) -> [Checksum] {
        members.compactMap { member in
            guard let equals = member.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            let name = FieldText.repair(member[..<equals].trimmed).lowercased()
            return checksum(name, member[member.index(after: equals)...])
        }
    }

    private static func checksum(_ name: String, _ text: ArraySlice<UInt8>) -> Checksum? {
        let algorithm = name == "sha" ? .sha1 : Checksum.Algorithm(rawValue: name)
        guard let algorithm, let digest = Base64.decode(text.trimmed) else { return nil }
        return Checksum(algorithm, digest)
    }
}
