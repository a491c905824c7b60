// SPDX-License-Identifier: Apache-2.0

/// Why a task failed: the contract's ErrorCode, grouped by origin and never renamed.
package enum FailureCode: String, CaseIterable, Sendable {
    case networkUnreachable = "Network.Unreachable"
    case networkTimeout = "Network.Timeout"
    case networkStalled = "Network.Stalled"
    case networkReset = "Network.Reset"
    case networkTLS = "Network.TLS"
    case networkDNS = "Network.DNS"

    case serverNotFound = "Server.NotFound"
    case serverForbidden = "Server.Forbidden"
    case serverAuthRequired = "Server.AuthRequired"
    case serverBusy = "Server.Busy"
    case serverFailed = "Server.Failed"
    case serverRangeRefused = "Server.RangeRefused"
    case serverTruncated = "Server.Truncated"
    case serverContentChanged = "Server.ContentChanged"
    case serverTooManyRedirects = "Server.TooManyRedirects"
    case serverBadResponse = "Server.BadResponse"

    case fileNoSpace = "File.NoSpace"
    case fileAccessDenied = "File.AccessDenied"
    case fileNameTooLong = "File.NameTooLong"
    case fileExists = "File.Exists"
    case fileVanished = "File.Vanished"
    case fileFailed = "File.Failed"

    case checksumMismatch = "Integrity.ChecksumMismatch"
    case sizeMismatch = "Integrity.SizeMismatch"

    /// Whether servers answer like this where a link has expired or its file is gone.
    package var tellsOfAnExpiredLink: Bool {
        [.serverNotFound, .serverForbidden, .serverAuthRequired].contains(self)
    }

    /// Whether another source of the same file may do better.
    package var isOfSource: Bool { !rawValue.hasPrefix("File.") }

    /// Whether the bytes on disk are worthless: the next try starts from the first byte.
    package var spoilsContent: Bool {
        [.checksumMismatch, .sizeMismatch, .serverContentChanged].contains(self)
    }

    /// Whether a missing network can cause this failure.
    package var isOfNetwork: Bool { rawValue.hasPrefix("Network.") }
}

/// One failure of a transfer.
package struct Failure: Error, Hashable, Sendable {
    package var code: FailureCode
    /// A sentence for people.
    ///
    /// It never contains a password, a query, a cookie or the value of a header.
    package var message: String
    /// Whether the same request may succeed a little later.
    package var isTransient: Bool
    /// How long the server asked to be left alone (RFC 9110 section 10.2.3).
    package var retryAfter: Duration?
    /// How many bytes must be free on the file system before another try; nil where the failure is
    /// not about space.
    package var neededSpace: Int64?
    /// Whether a host had answered the task before; the record stores that apart from the failure.
    package var isAfterAnswer = false

    package init(
        _ code: FailureCode,
        _ message: String,
        isTransient: Bool = false,
        retryAfter: Duration? = nil,
        neededSpace: Int64? = nil
    ) {
        self.code = code
        self.message = message
        self.isTransient = isTransient
        self.retryAfter = retryAfter
        self.neededSpace = neededSpace
    }

    /// Returns a failure that may pass by itself; its message ends by saying so.
    package static func transient(_ code: FailureCode, _ message: String) -> Failure {
        Failure(code, message + " A later try may succeed.", isTransient: true)
    }
}
