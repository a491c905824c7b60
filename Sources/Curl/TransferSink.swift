// SPDX-License-Identifier: Apache-2.0

/// What a sink says to a header line.
public enum HeaderVerdict: Sendable {
    /// Go on.
    case proceed
    /// End the transfer with ``CurlCode/writeError``.
    case abort
}

/// What a sink says to a piece of the body.
public enum BodyVerdict: Sendable {
    /// The bytes are the sink's now.
    case taken
    /// The same, and the sink waits for what else comes at once: it hears of the end of that by
    /// ``TransferSink/bodyPauses()``, unless the transfer has ended by then.
    case kept
    /// Not now: the transfer stops reading, and the same bytes are offered again, perhaps in other
    /// pieces, once ``TransferHandle/resume()`` was called.
    case pause
    /// End the transfer with ``CurlCode/writeError``.
    case abort
}

/// Where the answer of one transfer goes.
///
/// Called synchronously on the pool's thread, never concurrently for one transfer and never after
/// its outcome. The bytes belong to libcurl and are gone when the call returns. A sink that takes
/// long holds up every transfer of the pool.
public protocol TransferSink: AnyObject, Sendable {
    /// One raw line of a header with its line end: those of 1xx answers, the status line, the
    /// empty line at the end, and trailers after the body.
    ///
    /// HTTP only; other servers are heard through ``receive(remoteFile:)``.
    func receive(headerLine: UnsafeRawBufferPointer) -> HeaderVerdict

    /// What an FTP or SFTP server says of the file, once, before the first byte of the body, or
    /// at the end of an empty one; never for HTTP.
    func receive(remoteFile: RemoteFile) -> HeaderVerdict

    /// A piece of the body, 1 byte to 16 KiB, transfer coding removed, content coding left on.
    func receive(body: UnsafeRawBufferPointer) -> BodyVerdict

    /// Bytes were kept, and nothing more comes for now.
    func bodyPauses()
}

extension TransferSink {
    /// Does nothing, for sinks that keep nothing.
    public func bodyPauses() {}

    /// Takes a file as it is.
    public func receive(remoteFile: RemoteFile) -> HeaderVerdict { .proceed }
}
