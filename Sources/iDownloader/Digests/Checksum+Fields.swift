// SPDX-License-Identifier: Apache-2.0

import iDownState

extension Checksum {
    /// The strongest digest of the whole file that a response's fields give; nil for none.
    ///
    /// `Repr-Digest` and `Digest` speak of the whole even in a part; `Content-Digest` and
    /// `Content-MD5` speak of the body alone, so that they count where that is the whole. Unknown
    /// algorithms and what cannot be read are passed over: the server owes nobody a digest.
    ///
    /// - Parameters:
    ///   - fields: the fields of one response.
    ///   - status: its status.
    /// - Returns: the one that the file is held against.
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

    /// `sha-256=:base64:` (RFC 9530 sections 2 and 3), members of a dictionary (RFC 8941 section
    /// 3.2): members of other kinds are passed over, and of a key given twice the last one counts.
    private static func structured(_ values: [[UInt8]]) -> [Checksum] {
        var found: [String: Checksum] = [:]
        for member in values.flatMap(\.splitAtCommas).map(\.trimmed) {
            // A field with a key that is none counts as not sent.
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

    /// `SHA-256=base64` (RFC 3230 section 4.3.2, RFC 5843 section 2.2).
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
