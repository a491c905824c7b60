// SPDX-License-Identifier: Apache-2.0

extension FileName {
    /// The name used if nothing suggests a better one.
    package static let fallback = FileName(trusted: "download")

    /// Makes a safe name from the last element of a URL's path, decoded once; returns nil where
    /// nothing remains.
    ///
    /// Slashes that come from the decoding are not folder separators (CVE-2025-11563).
    ///
    /// - Parameters:
    ///   - urlPath: the path, still percent-encoded.
    ///   - limit: the longest name in bytes that the file system takes.
    package init?(suggestedBy urlPath: some StringProtocol, limit: Int = 255) {
        let path = Array(urlPath.utf8)
        let encoded = path[(path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0)...]
        // A fast path: lists show many names, and most of them need no repair.
        if Self.isSafe(encoded), encoded.count <= Self.room(within: limit) {
            self.init(trusted: String(decoding: encoded, as: UTF8.self))
            return
        }
        self.init(sanitizing: FieldText.repair(PercentEncoding.decode(encoded)), limit: limit)
    }

    /// Whether a name is certain to stay the same in ``init(sanitizing:limit:)``.
    private static func isSafe(_ name: ArraySlice<UInt8>) -> Bool {
        guard let first = name.first, first.isLetterOrDigit, name.last != UInt8(ascii: "."),
            name.allSatisfy({ $0.isLetterOrDigit || "._-".utf8.contains($0) })
        else { return false }
        // Device names have 3, 4, 6 or 7 characters before their first dot, and start with C, P, A,
        // N, L.
        return !(3...7).contains(name.prefix { $0 != UInt8(ascii: ".") }.count)
            || !"cpanl".utf8.contains(first | 0x20)
    }
}

extension TaskRequest {
    /// The name of the file until a server gives a better one: from the client, or else from the
    /// URL.
    package var suggestedName: String {
        if let fileName { return fileName }
        let path = URLParts(url)?.path ?? ""
        return (FileName(suggestedBy: path) ?? .fallback).text
    }
}
