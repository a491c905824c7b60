// SPDX-License-Identifier: Apache-2.0

extension FileName {
    /// The name where nothing suggests a better one.
    package static let fallback = FileName(trusted: "download")

    /// Makes a safe name of the last element of a URL's path, decoded once; nil where nothing
    /// remains.
    ///
    /// Separators that come out of the decoding stand for themselves, not for folders
    /// (CVE-2025-11563).
    ///
    /// - Parameters:
    ///   - urlPath: the path, percent-encoded as it is.
    ///   - limit: the longest name in bytes that the file system takes.
    package init?(suggestedBy urlPath: some StringProtocol, limit: Int = 255) {
        let encoded = urlPath.utf8.reversed().prefix { $0 != UInt8(ascii: "/") }.reversed()
        // Lists show many names, and most of them need no repair.
        if Self.isSafe(Array(encoded)), encoded.count <= Self.room(within: limit) {
            self.init(trusted: String(decoding: encoded, as: UTF8.self))
            return
        }
        self.init(sanitizing: FieldText.repair(PercentEncoding.decode(encoded)), limit: limit)
    }

    /// Returns whether a name is certainly what ``init(sanitizing:limit:)`` would leave as it is.
    private static func isSafe(_ name: [UInt8]) -> Bool {
        guard let first = name.first, first.isLetterOrDigit, name.last != UInt8(ascii: "."),
            name.allSatisfy({ $0.isLetterOrDigit || "._-".utf8.contains($0) })
        else { return false }
        // Names of devices have 3, 4, 6 or 7 characters before their first dot.
        return !(3...7).contains(name.prefix { $0 != UInt8(ascii: ".") }.count)
            || !"cpanl".utf8.contains(first | 0x20)
    }
}

extension TaskRequest {
    /// The name of the file until a server says a better one: what the client wants, else what the
    /// URL suggests.
    package var suggestedName: String {
        if let fileName { return fileName }
        let path = URLParts(url)?.path ?? ""
        return (FileName(suggestedBy: path) ?? .fallback).text
    }
}
