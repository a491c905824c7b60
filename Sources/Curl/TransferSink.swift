// SPDX-License-Identifier: Apache-2.0

/// A sink's answer to a piece of the body.
public enum BodyVerdict: Sendable {
    /// The sink has taken the bytes.
    case taken
    /// The sink has taken the bytes and waits for more. When no more come for now,
    /// ``TransferSink/bodyPauses()`` is called, unless the transfer has ended.
    case kept
    /// The sink cannot take the bytes now: the transfer stops reading. Once
    /// ``TransferHandle/resume()`` is called, the same bytes are offered again, perhaps in other
    /// pieces.
    case pause
    /// End the transfer with ``CurlCode/writeError``.
    case abort
}

/// Takes the answer of one transfer.
///
/// Called synchronously on the pool's thread, never concurrently for one transfer and never after
/// its outcome. The bytes belong to libcurl and are valid only during the call. A slow sink holds
/// up every transfer of the pool.
public protocol TransferSink: AnyObject, Sendable {
    /// Takes one raw line of a head with its line end: status lines, fields and empty lines, also
    /// those of 1xx answers, and trailers after the body.
    ///
    /// HTTP only; for other servers ``receive(remoteFile:)`` is called. Returns false to end the
    /// transfer with ``CurlCode/writeError``.
    func receive(headerLine: UnsafeRawBufferPointer) -> Bool

    /// Takes what an FTP or SFTP server says about the file, once, before the first byte of the
    /// body, or at the end of an empty one; never called for HTTP.
    func receive(remoteFile: RemoteFile)

    /// Takes a piece of the body: 1 byte to 16 KiB, without transfer coding, with content coding.
    func receive(body: UnsafeRawBufferPointer) -> BodyVerdict

    /// Called after ``BodyVerdict/kept``, when no more bytes come for now.
    func bodyPauses()
}

extension TransferSink {
    /// Does nothing, for sinks that keep nothing.
    public func bodyPauses() {}

    /// Does nothing, for sinks that only take what HTTP servers say.
    public func receive(remoteFile: RemoteFile) {}
}
