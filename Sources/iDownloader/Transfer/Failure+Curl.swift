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
        if let failure = Self.refusalOnTheWay(outcome) {
            self = failure
            return
        }
        switch outcome.result {
        case _ where outcome.isMisfit:
            // On another connection the replies may fit.
            self.init(.networkReset, detail, isTransient: true)
        case .couldNotResolveHost, .couldNotResolveProxy:
            self.init(.networkDNS, detail, isTransient: true)
        case .couldNotConnect, .proxy:
            self.init(.networkUnreachable, detail, isTransient: true)
        case .timedOut:
            self.init(hadBody ? .networkStalled : .networkTimeout, detail, isTransient: true)
        case .ssh, .gotNothing, .sendError, .receiveError, .http2, .http2Stream:
            self.init(.networkReset, detail, isTransient: true)
        case .partialFile:
            self.init(.serverTruncated, detail, isTransient: true)
        case .tlsConnect:
            // A handshake that was cut, as opposed to a certificate that is not to be trusted.
            self.init(.networkTLS, detail, isTransient: true)
        case .peerVerification, .badCertificateFile, .encryptionRefused, .failedInitialization:
            // SSH hosts with which no common cipher is found end as a failed initialisation.
            self.init(.networkTLS, detail)
        case .remoteFileNotFound:
            self.init(.serverNotFound, detail)
        case .remoteAccessDenied:
            // 550 is FTP's word for a folder that is not there as well.
            self.init(outcome.status == 550 ? .serverNotFound : .serverForbidden, detail)
        case .couldNotRetrieve, .commandRefused:
            self.init(.serverFailed, detail)
        case .loginDenied:
            self.init(.serverAuthRequired, detail)
        case .badRequest:
            self.init(.networkUnreachable, detail)
        case .unsupportedProtocol, .malformedURL, .weirdServerReply, .badContentEncoding,
            .fileTooLarge:
            self.init(.serverBadResponse, detail)
        case .outOfMemory where !hadBody:
            // libcurl's word for a header line that has no end.
            self.init(.serverBadResponse, "the server's answer has a line without an end")
        default:
            self.init(.networkReset, detail, isTransient: true)
        }
    }
}

extension Failure {
    /// What the way to the host, or the host as a whole, refuses; nil where it is not that.
    private static func refusalOnTheWay(_ outcome: TransferOutcome) -> Failure? {
        if outcome.wasRefusedAddress {
            return .badResponse("is a redirect that leads to this machine or its own wire")
        }
        switch outcome.hostKeyDoubt {
        case .unknown:
            return Failure(
                .networkTLS,
                "the host's key is not in ~/.ssh/known_hosts: sign in with ssh once to check it"
            )
        case .changed:
            return Failure(
                .networkTLS,
                "the host shows another key than ~/.ssh/known_hosts has for it"
            )
        case .revoked:
            return Failure(
                .networkTLS,
                "the host shows a key that ~/.ssh/known_hosts has as revoked"
            )
        case nil: break
        }
        switch outcome.proxyStatus {
        case 0, 200..<300: break
        case 407: return Failure(.serverAuthRequired, "the proxy answered HTTP 407")
        case let status:
            let text = "the proxy answered HTTP \(status)"
            return Failure(.networkUnreachable, text, isTransient: true)
        }
        // FTP's replies from 400 on ask to come again later (RFC 959 section 4.2).
        let isReply: Bool
        switch outcome.result {
        case .loginDenied, .remoteAccessDenied, .remoteFileNotFound, .couldNotRetrieve,
            .commandRefused:
            isReply = (400..<500).contains(outcome.status)
        // To libcurl the same reply, instead of a greeting, is a timeout.
        case .weirdServerReply, .timedOut: isReply = outcome.status == 421
        default: isReply = false
        }
        let text = "the server answered \(outcome.status)"
        return isReply ? Failure(.serverBusy, text, isTransient: true) : nil
    }
}
