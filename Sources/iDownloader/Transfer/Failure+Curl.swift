// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

extension Failure {
    /// What libcurl's word on a broken transfer means for the task (libcurl-errors(3)).
    ///
    /// - Parameters:
    ///   - outcome: anything but success.
    ///   - hadBody: whether body bytes had come: silence is a stall then, and not a timeout.
    init(_ outcome: TransferOutcome, hadBody: Bool) {
        let detail = outcome.message
        switch outcome.result {
        case .couldNotResolveHost, .couldNotResolveProxy:
            self.init(.networkDNS, detail, isTransient: true)
        case .couldNotConnect, .proxy:
            self.init(.networkUnreachable, detail, isTransient: true)
        case .timedOut:
            self.init(hadBody ? .networkStalled : .networkTimeout, detail, isTransient: true)
        case .gotNothing, .sendError, .receiveError, .http2, .http2Stream:
            self.init(.networkReset, detail, isTransient: true)
        case .partialFile:
            self.init(.serverTruncated, detail, isTransient: true)
        case .tlsConnect:
            // A handshake that was cut, as opposed to a certificate that is not to be trusted.
            self.init(.networkTLS, detail, isTransient: true)
        case .peerVerification:
            self.init(.networkTLS, detail)
        case .unsupportedProtocol, .weirdServerReply, .badContentEncoding, .fileTooLarge:
            self.init(.serverBadResponse, detail)
        case .outOfMemory where !hadBody:
            // libcurl's word for a header line that has no end.
            self.init(.serverBadResponse, "the server's answer has a line without an end")
        default:
            self.init(.networkReset, detail, isTransient: true)
        }
    }
}
