// SPDX-License-Identifier: Apache-2.0

import CCurl

/// How a transfer ended, as libcurl numbers it (libcurl-errors(3)).
///
/// Codes without a name here keep their number, so that a newer library cannot surprise the caller.
public struct CurlCode: RawRepresentable, Hashable, Sendable {
    /// The number in libcurl's headers.
    public let rawValue: Int32

    /// Takes any number, known or not.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    init(_ code: CURLcode) { self.init(rawValue: Int32(truncatingIfNeeded: code.rawValue)) }

    /// The transfer succeeded; the HTTP status may still be an error.
    public static let ok = CurlCode(CURLE_OK)
    /// The scheme is not allowed, or the answer is neither HTTP/1 nor HTTP/2.
    public static let unsupportedProtocol = CurlCode(CURLE_UNSUPPORTED_PROTOCOL)
    /// TLS or SSH could not be set up, for example without a cipher that both sides support.
    public static let failedInitialization = CurlCode(CURLE_FAILED_INIT)
    /// The URL is not valid.
    public static let malformedURL = CurlCode(CURLE_URL_MALFORMAT)
    /// The proxy's name has no address.
    public static let couldNotResolveProxy = CurlCode(CURLE_COULDNT_RESOLVE_PROXY)
    /// The host's name has no address.
    public static let couldNotResolveHost = CurlCode(CURLE_COULDNT_RESOLVE_HOST)
    /// The connection was not accepted; see ``TransferOutcome/osError``.
    public static let couldNotConnect = CurlCode(CURLE_COULDNT_CONNECT)
    /// The answer cannot be read: wrong header lines or lengths.
    public static let weirdServerReply = CurlCode(CURLE_WEIRD_SERVER_REPLY)
    /// The reply to the request for a data connection cannot be read (FTP).
    public static let weirdPassiveReply = CurlCode(CURLE_FTP_WEIRD_PASV_REPLY)
    /// The reply to that request in its older form, 227, cannot be read (FTP).
    public static let weirdPassiveForm = CurlCode(CURLE_FTP_WEIRD_227_FORMAT)
    /// HTTP/2's framing layer failed.
    public static let http2 = CurlCode(CURLE_HTTP2)
    /// The connection ended before the announced length.
    public static let partialFile = CurlCode(CURLE_PARTIAL_FILE)
    /// A command that has to come before the file's was refused (FTP).
    public static let commandRefused = CurlCode(CURLE_QUOTE_ERROR)
    /// The sink aborted.
    public static let writeError = CurlCode(CURLE_WRITE_ERROR)
    /// No memory, or a header line of more than 100 KiB, for which libcurl 7.88 has the same code.
    public static let outOfMemory = CurlCode(CURLE_OUT_OF_MEMORY)
    /// Connecting took too long, or no byte came for too long.
    public static let timedOut = CurlCode(CURLE_OPERATION_TIMEDOUT)
    /// The TLS handshake failed.
    public static let tlsConnect = CurlCode(CURLE_SSL_CONNECT_ERROR)
    /// The transfer was cancelled, or its pool shut down.
    public static let aborted = CurlCode(CURLE_ABORTED_BY_CALLBACK)
    /// The request contains something that cannot be sent, for example a line feed in a header.
    public static let badRequest = CurlCode(CURLE_BAD_FUNCTION_ARGUMENT)
    /// The announced length is larger than the library can count.
    public static let fileTooLarge = CurlCode(CURLE_FILESIZE_EXCEEDED)
    /// A call into the library failed, mostly for lack of memory; the server is not the cause.
    ///
    /// This is not one of libcurl's own codes, which are never negative.
    public static let localFailure = CurlCode(rawValue: -1)
    /// The server sent nothing at all.
    public static let gotNothing = CurlCode(CURLE_GOT_NOTHING)
    /// Sending failed.
    public static let sendError = CurlCode(CURLE_SEND_ERROR)
    /// Receiving failed, for example because of a reset.
    public static let receiveError = CurlCode(CURLE_RECV_ERROR)
    /// The peer's certificate is not trusted.
    public static let peerVerification = CurlCode(CURLE_PEER_FAILED_VERIFICATION)
    /// The chunked or compressed body cannot be read.
    public static let badContentEncoding = CurlCode(CURLE_BAD_CONTENT_ENCODING)
    /// An HTTP/2 stream was closed by the server.
    public static let http2Stream = CurlCode(CURLE_HTTP2_STREAM)
    /// A folder of the path, or the file, may not be accessed (FTP, SFTP).
    public static let remoteAccessDenied = CurlCode(CURLE_REMOTE_ACCESS_DENIED)
    /// The file does not exist (FTP, SFTP).
    public static let remoteFileNotFound = CurlCode(CURLE_REMOTE_FILE_NOT_FOUND)
    /// The server did not send the file (FTP).
    public static let couldNotRetrieve = CurlCode(CURLE_FTP_COULDNT_RETR_FILE)
    /// No login was accepted (FTP, SFTP).
    public static let loginDenied = CurlCode(CURLE_LOGIN_DENIED)
    /// The server can only start at the first byte (FTP).
    public static let noRestart = CurlCode(CURLE_FTP_COULDNT_USE_REST)
    /// The range begins after the file's end (FTP, SFTP).
    public static let beyondEnd = CurlCode(CURLE_BAD_DOWNLOAD_RESUME)
    /// The server refused the required encryption (FTPS).
    public static let encryptionRefused = CurlCode(CURLE_USE_SSL_FAILED)
    /// A file of trusted certificates cannot be read.
    public static let badCertificateFile = CurlCode(CURLE_SSL_CACERT_BADFILE)
    /// The SSH layer failed.
    public static let ssh = CurlCode(CURLE_SSH)
    /// The proxy refused or failed.
    public static let proxy = CurlCode(CURLE_PROXY)
}

extension CurlCode: CustomStringConvertible {
    /// The library's own sentence for the code, in English; `curl_easy_strerror`.
    public var description: String {
        if self == .localFailure { return "A call into libcurl failed" }
        let code = CURLcode(UInt32(bitPattern: rawValue))
        return curl_easy_strerror(code).map { String(cString: $0) } ?? "error \(rawValue)"
    }
}
