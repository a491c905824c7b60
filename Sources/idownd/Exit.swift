// SPDX-License-Identifier: Apache-2.0

/// Why the service ends by itself, with the matching exit status (sysexits.h).
enum Exit: Error {
    /// Another process owns the service's name on this bus; this is not an error.
    case alreadyRunning(String)
    case noBus(String)
    case storeFailed(String)
    case locked(String)
    case failed(String)

    var status: Int32 {
        switch self {
        case .alreadyRunning: 0
        case .noBus: 69  // EX_UNAVAILABLE
        case .failed: 70  // EX_SOFTWARE
        case .storeFailed: 74  // EX_IOERR
        case .locked: 75  // EX_TEMPFAIL
        }
    }

    var message: String {
        switch self {
        case .alreadyRunning(let text), .locked(let text), .failed(let text): text
        case .noBus(let text): "cannot use the session bus: \(text)"
        case .storeFailed(let text): text
        }
    }
}
