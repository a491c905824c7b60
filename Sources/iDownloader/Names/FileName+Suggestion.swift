// SPDX-License-Identifier: Apache-2.0

package import iDownState

extension FileName {
    /// The name for a download, by what the server's answer and its URL say.
    ///
    /// In this order: Content-Disposition, the last path element of the URL, `download`. An
    /// option of the client comes before all of them and needs no answer to be known.
    ///
    /// - Parameters:
    ///   - contentDisposition: the raw value of the field.
    ///   - urlPath: the path of the URL that answered, percent-encoded as it is.
    ///   - mimeType: without parameters, in small letters; gives a name without extension one.
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
        // On Linux text bears any name, and many servers call text what they do not know: README
        // and Makefile stay as they are.
        guard element == nil || !mimeType.hasPrefix("text/") else { return name }
        guard name.pathExtension.isEmpty, let added = MediaType.fileExtension(for: mimeType) else {
            return name
        }
        let stem = name.text.prefix(fitting: room(within: limit) - added.utf8.count - 1)
        return FileName(sanitizing: "\(stem).\(added)", limit: limit) ?? name
    }
}
