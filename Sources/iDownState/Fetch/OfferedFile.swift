// SPDX-License-Identifier: Apache-2.0

/// What the first answer that brings a task's file says, before any of its bytes are stored.
package struct OfferedFile: Hashable, Sendable {
    /// The status; 200 where the server speaks FTP or SFTP.
    package var status: Int
    /// What the answer says of the file.
    package var version: RemoteVersion
    /// The URL that gave it, after redirects, without user and password.
    package var url: String
    /// The name that the file would get if the name were free.
    package var name: String

    package init(status: Int, version: RemoteVersion, url: String, name: String) {
        self.status = status
        self.version = version
        self.url = url
        self.name = name
    }
}

/// The answer that a browser got to the request whose download it hands over to idown.
///
/// Values that the browser does not know are nil and are not compared.
package struct SeenAnswer: Hashable, Sendable {
    package var status: Int?
    /// In bytes.
    package var size: Int64?
    /// The field's text.
    package var entityTag: String?
    /// The field's text.
    package var lastModified: String?
    /// The field's text, parameters included.
    package var mimeType: String?

    /// Returns how another answer to the same request differs.
    ///
    /// A value that the browser has seen and the other answer lacks counts as a difference: in
    /// doubt the download stays with the browser, which already has it.
    ///
    /// - Parameter answer: the other answer.
    /// - Returns: the name of the first value that differs, for people; nil where the answer is for
    ///   the same file.
    package func difference(from answer: OfferedFile) -> String? {
        let version = answer.version
        if let status, status != answer.status { return "status" }
        if let size, size != version.total { return "size" }
        if let entityTag, Self.opaque(entityTag) != version.entityTag?.opaque { return "ETag" }
        if let lastModified, Self.trimmed(lastModified) != version.lastModified?.field {
            return "Last-Modified"
        }
        guard let mimeType else {
            // A web page where the browser named no type: it may ask for a login, for example.
            let isPage = ["text/html", "application/xhtml+xml"].contains(version.mimeType)
            return isPage && entityTag == nil ? "type" : nil
        }
        let type = mimeType.prefix { $0 != ";" }
        return Self.trimmed(type).lowercased() == version.mimeType ? nil : "type"
    }

    /// Returns the tag without `W/`: equal weak tags belong to one file, though perhaps to
    /// different bytes.
    private static func opaque(_ field: String) -> String {
        let text = trimmed(field)
        return text.hasPrefix("W/") ? String(text.dropFirst(2)) : text
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        var text = Substring(text)
        while text.first == " " || text.first == "\t" { text.removeFirst() }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return String(text)
    }
}

extension SeenAnswer {
    /// Makes an answer of which only the status may be known.
    package init(status: Int?) { self.init(status: status, size: nil) }
}
