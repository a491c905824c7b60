// SPDX-License-Identifier: Apache-2.0

import iDownState

/// The sources of a file name: the client's option, the response and the URL.
struct NameWish: Sendable {
    /// The name that the client chose; nil if it chose none.
    let option: String?
    /// The raw value of the field; nil if there is none.
    let contentDisposition: [UInt8]?
    /// The still percent-encoded path of the URL that answered.
    let urlPath: String
    /// The media type without parameters, in lower case.
    let mimeType: String

    /// Returns the names to try in order, from the client's option, else the server's name, else
    /// the URL's.
    ///
    /// The client's name is the only one and is not changed. After another long name, shorter ones
    /// follow for file systems that take less than they report.
    ///
    /// - Parameter limit: the length in bytes of the longest name, as the file system reports it.
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
