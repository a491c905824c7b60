// SPDX-License-Identifier: Apache-2.0

import iDownState

/// What a file is to be called, as far as client, server and URL tell.
struct NameWish: Sendable {
    /// The client's choice.
    let option: String?
    /// The raw value of the field.
    let contentDisposition: [UInt8]?
    /// The path of the URL that answered, percent-encoded as it is.
    let urlPath: String
    /// Without parameters, in small letters.
    let mimeType: String

    /// The client's choice before the server's, and that before the URL's.
    ///
    /// The client's is taken as it is or not at all; behind others that are long, shorter ones
    /// follow for file systems that take less than they say.
    ///
    /// - Parameter limit: the longest name in bytes that the file system says it takes.
    /// - Returns: at least one name.
    func names(limit: Int) -> [FileName] {
        if let option, let name = try? FileName(option: option) { return [name] }
        let name = suggested(within: limit)
        guard let shortest = FileName.limits(from: limit).last,
            name.text.utf8.count > FileName.room(within: shortest)
        else { return [name] }
        return [name] + FileName.limits(from: limit).dropFirst().map(suggested)
    }

    private func suggested(within limit: Int) -> FileName {
        .suggested(
            contentDisposition: contentDisposition,
            urlPath: urlPath,
            mimeType: mimeType,
            limit: limit
        )
    }
}
