// SPDX-License-Identifier: Apache-2.0

package import iDownState

extension FileName {
    /// Returns a name for a download, from the server's response and its URL.
    ///
    /// The order is: Content-Disposition, the last path element of the URL, `download`. The
    /// client's option takes precedence over all of them and is known before the response.
    ///
    /// - Parameters:
    ///   - contentDisposition: the raw value of the field.
    ///   - urlPath: the still percent-encoded path of the URL that answered.
    ///   - mimeType: the media type without parameters, in lower case. It adds an extension to a
    ///     name that has none.
    ///   - limit: the longest name in bytes that the file system takes.
    /// - Returns: a safe name, whatever the input.
    package static func suggested(
        contentDisposition: [UInt8]?,
        urlPath: String,
        mimeType: String,
        limit: Int = 255
    ) -> FileName {
        if let given = contentDisposition.flatMap({ ContentDisposition($0).fileName }),
            let name = FileName(sanitizing: given, limit: limit)
        {
            return name
        }
        let element = FileName(suggestedBy: urlPath, limit: limit)
        let name = element ?? fallback
        // Names in URLs get no extension for text types: on Linux, text files often have none
        // (README, Makefile), and many servers send unknown files as text.
        guard element == nil || !mimeType.hasPrefix("text/") else { return name }
        guard name.pathExtension.isEmpty, let added = MediaType.fileExtension(for: mimeType) else {
            return name
        }
        let stem = name.text.prefix(fitting: room(within: limit) - added.utf8.count - 1)
        return FileName(sanitizing: "\(stem).\(added)", limit: limit) ?? name
    }
}
