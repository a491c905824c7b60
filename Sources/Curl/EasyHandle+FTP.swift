// SPDX-License-Identifier: Apache-2.0

import CCurl

extension EasyHandle {
    /// Has an FTP server's file read until the server ends it.
    ///
    /// Left to itself libcurl asks for SIZE and reads no byte more, so that nobody learns of a file
    /// that is longer than that. Told to ignore the size it asks for none and restarts nowhere
    /// (lib/ftp.c), so both commands are given to it; what SIZE is answered is heard with all other
    /// replies.
    ///
    /// - Returns: false where the request is not to be sent in this way.
    func applyReadingToEnd(_ request: TransferRequest) throws(CurlFailure) -> Bool {
        guard request.readsToEnd, request.url.isFTP, let name = request.url.nameForFTP else {
            return false
        }
        // A server need not know it.
        var commands = ["*SIZE \(name)"]
        if let start = request.rangeStart {
            guard start.isOpen else { return false }
            // The last one before RETR (RFC 3659 section 5.2).
            commands.append("REST \(start.offset)")
        }
        try set(CURLOPT_IGNORE_CONTENT_LENGTH, 1)
        try set(CURLOPT_PREQUOTE, commands)
        return true
    }
}

extension URLReference {
    /// The file's name as it goes into an FTP command, after the folders that libcurl has changed
    /// to (RFC 1738 section 3.2.2); nil where it is none that Swift can hold, or holds control
    /// characters, which libcurl refuses in any case.
    fileprivate var nameForFTP: String? {
        var count: Int32 = 0
        guard let decoded = curl_easy_unescape(nil, path, 0, &count) else { return nil }
        defer { curl_free(decoded) }
        let bytes = UnsafeRawBufferPointer(start: decoded, count: Int(count))
        // libcurl looks for slashes in what it has decoded.
        let name = bytes.suffix(from: bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0)
        guard !name.isEmpty, name.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        return String(validating: name, as: UTF8.self)
    }
}
