// SPDX-License-Identifier: Apache-2.0

extension URLReference {
    /// The schemes whose URLs ``TransferPool`` can get.
    public static let servedSchemes = ["http", "https", "ftp", "ftps", "sftp"]

    /// Whether the URL is fetched by HTTP, with a status and header fields.
    public var isHTTP: Bool { scheme == "http" || scheme == "https" }

    /// Whether the URL is fetched by FTP, with TLS or without.
    public var isFTP: Bool { scheme == "ftp" || scheme == "ftps" }

    /// Whether the URL names a folder on an FTP or SFTP server, which cannot be fetched.
    public var isFolder: Bool { !isHTTP && path.hasSuffix("/") }

    /// Returns an FTP path without its `;type=` (RFC 1738 section 3.2.2).
    ///
    /// `a` would convert line ends and `d` return a listing. Without a type the file comes as it
    /// is.
    static func path(_ path: String, scheme: String) -> String {
        guard scheme == "ftp" || scheme == "ftps" else { return path }
        guard let type = path.firstRange(of: ";type=") else { return path }
        return String(path[..<type.lowerBound])
    }
}
