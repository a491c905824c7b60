// SPDX-License-Identifier: Apache-2.0

extension URLReference {
    /// The schemes whose URLs ``TransferPool`` can get.
    public static let servedSchemes = ["http", "https", "ftp", "ftps", "sftp"]

    /// Whether the answer is one of HTTP, with a status and fields.
    public var isHTTP: Bool { scheme == "http" || scheme == "https" }

    /// Whether it is one of FTP, with TLS or without.
    public var isFTP: Bool { scheme == "ftp" || scheme == "ftps" }

    /// Whether the URL is one of a server of files and names a folder there, which is no file.
    public var isFolder: Bool { !isHTTP && path.hasSuffix("/") }

    /// An FTP path without its `;type=` (RFC 1738 section 3.2.2): `a` would translate line ends on
    /// the way and `d` bring a listing, and what is left is the only one that brings the file.
    static func path(_ path: String, scheme: String) -> String {
        guard scheme == "ftp" || scheme == "ftps" else { return path }
        guard let type = path.firstRange(of: ";type=") else { return path }
        return String(path[..<type.lowerBound])
    }
}
