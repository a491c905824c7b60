// SPDX-License-Identifier: Apache-2.0

import iDownState

/// The sources of a file name: the client's option, the response and the URL.
struct NameWish: Sendable {
    /// The name that the client chose; nil if it chose none.
    var option: String?
    /// The raw value of the field; nil if there is none.
    var contentDisposition: [UInt8]?
    /// The still percent-encoded path of the URL that answered.
    let urlPath: String
    /// The media type without parameters, in lower case; it adds an extension to a name that has
    /// none.
    var mimeType = ""

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

    /// Returns a name from the server's response and its URL.
    ///
    /// The order is: Content-Disposition, the last path element of the URL, `download`.
    ///
    /// - Parameter limit: the length in bytes of the longest name that the file system takes.
    /// - Returns: a safe name, whatever the input.
    func suggested(within limit: Int = 255) -> FileName {
        if let given = contentDisposition.flatMap({ ContentDisposition($0).fileName }),
            let name = FileName(sanitizing: given, limit: limit)
        {
            return name
        }
        let element = FileName(suggestedBy: urlPath, limit: limit)
        let name = element ?? .fallback
        // Names in URLs get no extension for text types: on Linux, text files often have none
        // (README, Makefile), and many servers send unknown files as text.
        guard element == nil || !mimeType.hasPrefix("text/") else { return name }
        guard name.pathExtension.isEmpty, let added = MediaType.fileExtension(for: mimeType) else {
            return name
        }
        let room = FileName.room(within: limit) - added.utf8.count - 1
        return FileName(sanitizing: "\(name.text.prefix(fitting: room)).\(added)", limit: limit)
            ?? name
    }
}
