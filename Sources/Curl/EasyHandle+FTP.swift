// SPDX-License-Identifier: Apache-2.0

import CCurl

extension EasyHandle {
    /// Lets an FTP transfer read until the server ends the file.
    ///
    /// By default libcurl asks for SIZE and reads no byte more, so a file that is longer stays
    /// undetected. When told to ignore the size, it neither sends SIZE nor restarts (lib/ftp.c). So
    /// both commands are set here, and the reply to SIZE is read with all other replies.
    ///
    /// - Returns: false where the request cannot be sent in this way.
    func applyReadingToEnd(_ request: TransferRequest) throws(CurlFailure) -> Bool {
        guard request.readsToEnd, request.url.isFTP, let name = request.url.nameForFTP else {
            return false
        }
        // A server need not support SIZE: `*` ignores an error.
        var commands = ["*SIZE \(name)"]
        if let range = request.range {
            guard range.last == nil else { return false }
            // REST has to be the last command before RETR (RFC 3659 section 5.2).
            commands.append("REST \(range.first)")
        }
        try set(CURLOPT_IGNORE_CONTENT_LENGTH, 1)
        try set(CURLOPT_PREQUOTE, commands)
        return true
    }
}

extension URLReference {
    /// The file's name for an FTP command, relative to the folder that libcurl has changed to (RFC
    /// 1738 section 3.2.2).
    ///
    /// Nil where it is not UTF-8, or contains control characters, which libcurl always refuses.
    fileprivate var nameForFTP: String? {
        var count: Int32 = 0
        guard let decoded = curl_easy_unescape(nil, path, 0, &count) else { return nil }
        defer { curl_free(decoded) }
        let bytes = UnsafeRawBufferPointer(start: decoded, count: Int(count))
        // libcurl looks for slashes in the decoded path, too.
        let name = bytes.suffix(from: bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0)
        guard !name.isEmpty, name.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        return String(validating: name, as: UTF8.self)
    }
}
