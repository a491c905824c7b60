// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

extension Failure {
    /// Makes a failure of libcurl's result for a transfer that broke (libcurl-errors(3)).
    ///
    /// - Parameters:
    ///   - outcome: anything but success.
    ///   - hadBody: whether body bytes had come; silence is then a stall and no timeout.
    ///   - isHostKnown: whether the host has answered the task before; a wrong certificate is then
    ///     more likely that of a network which wants somebody to sign in.
    init(_ outcome: TransferOutcome, hadBody: Bool, isHostKnown: Bool = false) {
        let transfer = BrokenTransfer(outcome: outcome, hadBody: hadBody, isHostKnown: isHostKnown)
        self = transfer.failure
    }

    /// The failure of a connection that ended before a head came.
    static let noAnswer = transient(
        .networkReset,
        "The connection ended before the server had answered."
    )

    /// The failure of a source whose answers all ended before their ranges did.
    static let endedEarly = transient(.serverTruncated, "The server's answers ended too early.")

    /// The failure of a connection that ended before a compressed body began.
    static let withoutStream = transient(
        .serverTruncated,
        "The server's answer ended too early (the compressed body has not begun)."
    )
}

/// Tells why a transfer broke.
private struct BrokenTransfer {
    let outcome: TransferOutcome
    let hadBody: Bool
    let isHostKnown: Bool

    var failure: Failure {
        // In this order: an earlier one knows more of the cause.
        let failure =
            refusalOnTheWay ?? failureOfProxy ?? failureOfConnection ?? failureOfEncryption
            ?? failureOfAnswer
        return failure ?? .transient(.networkReset, detail)
    }

    /// libcurl's message, often to stand in brackets, where a sentence must not end.
    private var words: String {
        let words = outcome.message.replacing(". ", with: "; ")
        return words.hasSuffix(".") ? String(words.dropLast()) : words
    }

    /// libcurl's message as a sentence.
    private var detail: String { words + "." }

    /// OpenSSL's messages when the server does not speak TLS.
    private static let speaksNoTLS = [
        "wrong version number", "http request", "packet length too long",
    ]

    /// libcurl's messages for an SSH host that shares no algorithm with it, or has no SFTP.
    ///
    /// libcurl has the same code for a connection that was cut before the login or behind it.
    private static let endsSSH = ["ssh session: -5,", lacksSFTP]
    private static let lacksSFTP = "Unable to request SFTP"

    /// The failure that has happened on this computer.
    private var failureHere: Failure {
        let text = "The transfer could not go on on this computer (\(outcome.message))."
        return .transient(.networkReset, text)
    }
}

extension BrokenTransfer {
    /// The failure to reach the host, or to stay connected; nil for any other outcome.
    private var failureOfConnection: Failure? {
        switch outcome.result {
        case _ where outcome.isMisfit:
            // The replies may fit together again on a new connection.
            return Failure(.networkReset, detail, isTransient: true)
        case .localFailure:
            return failureHere
        case .failedInitialization where !outcome.isFromFileServer:
            return failureHere
        case .couldNotResolveHost:
            return Failure(
                .networkDNS,
                detail + " Check the host name in the URL and the network.",
                isTransient: true
            )
        case .couldNotConnect:
            return .transient(.networkUnreachable, detail)
        case .timedOut:
            let code: FailureCode = hadBody ? .networkStalled : .networkTimeout
            let what = hadBody ? "stopped sending" : "did not answer in time"
            return .transient(code, "The server \(what) (\(words)).")
        // libcurl 7.88 has no code of its own for damaged chunks (lib/transfer.c,
        // lib/http_chunks.c).
        case _ where outcome.message.contains("chunked-encod"):
            return .transient(.serverBadResponse, "The server's answer is damaged (\(words)).")
        case .ssh, .gotNothing, .sendError, .receiveError, .http2, .http2Stream,
            .failedInitialization where !Self.endsSSH.contains(where: outcome.message.contains):
            return .transient(.networkReset, "The connection broke (\(words)).")
        case .failedInitialization where outcome.message.contains(Self.lacksSFTP):
            return Failure(
                .serverBadResponse,
                "The host accepts the login, but has no SFTP. Use another URL, or ask the host's owner."
            )
        case .partialFile:
            return .transient(.serverTruncated, "The server's answer ended too early (\(words)).")
        default: return nil
        }
    }

    /// The failure to make the connection safe; nil for any other outcome.
    private var failureOfEncryption: Failure? {
        switch outcome.result {
        case .tlsConnect where Self.speaksNoTLS.contains(where: outcome.message.contains):
            return Failure(
                .networkTLS,
                "The server does not speak TLS at this port. Check "
                    + (outcome.isFromFileServer
                        ? "the port: ftps:// is for servers that begin with TLS, usually at port 990."
                        : "whether the URL begins with http:// or has another port."),
                // The login page of a captive network answers in clear text as well, and goes away.
                isTransient: true
            )
        case .tlsConnect where outcome.message.hasPrefix("OpenSSL/"):
            let reason = words.split(separator: ":").last.map(String.init) ?? words
            let text = "No safe connection to the server can be made (\(reason))."
            return .transient(.networkTLS, text)
        case .tlsConnect:
            // A handshake that was cut; an untrusted certificate has another code.
            return .transient(.networkTLS, detail)
        case .peerVerification where isHostKnown:
            let text = "The connection would not be safe: the network may want a login first."
            return .transient(.networkTLS, detail + " " + text)
        // The clock may not be set yet, as after a start without a battery.
        case .peerVerification where detail.contains("not yet valid"):
            return .transient(.networkTLS, detail + " Check the clock of this computer.")
        case .peerVerification, .badCertificateFile, .encryptionRefused, .failedInitialization:
            return Failure(
                .networkTLS,
                detail + " The connection would not be safe, so nothing was downloaded.",
                // Where descriptors are short, the certificates cannot be read for a while.
                isTransient: outcome.result == .badCertificateFile
            )
        default: return nil
        }
    }

    /// The failure that the server's answer is; nil for any other outcome.
    private var failureOfAnswer: Failure? {
        switch outcome.result {
        case .remoteFileNotFound:
            return Failure(.serverNotFound, detail + " Check the URL, or \(Failure.freshLink)")
        case .remoteAccessDenied:
            // FTP servers answer 550 for a missing folder as well.
            return Failure(outcome.status == 550 ? .serverNotFound : .serverForbidden, detail)
        case .couldNotRetrieve, .commandRefused:
            return Failure(.serverFailed, detail)
        case .loginDenied:
            return Failure(.serverAuthRequired, detail + Failure.loginAdvice)
        case .badRequest where outcome.message.contains("not a valid proxy"):
            return Failure(
                .networkUnreachable,
                detail + " Set another with `idown config proxy URL`."
            )
        case .badRequest:
            return Failure(.networkUnreachable, detail)
        case .malformedURL:
            return Failure(.serverBadResponse, detail)
        case .unsupportedProtocol, .weirdServerReply, .fileTooLarge:
            return .badResponse("cannot be read (\(words))")
        case .badContentEncoding:
            return Failure(.serverBadResponse, detail + " Try later, or \(Failure.freshLink)")
        case .outOfMemory where !hadBody && outcome.firstByteTime > .zero:
            // libcurl passes on whole lines only, so that the two causes cannot be told apart.
            return .transient(
                .serverBadResponse,
                "The server's answer has a header line of more than 100 KiB, or this computer has no"
                    + " memory left for it."
            )
        case .outOfMemory:
            return failureHere
        default: return nil
        }
    }
}

extension BrokenTransfer {
    private static let tellOfCrowds = ["too many", "maximum", "limit", "busy", "try again later"]

    /// The failure if the proxy cannot be used; nil for any other outcome.
    private var failureOfProxy: Failure? {
        guard let proxy = outcome.proxy else { return nil }
        switch outcome.proxyStatus {
        case 0, 200..<300: break
        // The status stays where the answer to the login never came.
        case 407 where words.contains("response 407"):
            return Failure(
                .serverAuthRequired,
                "The proxy \(proxy) answered HTTP 407. Put a login into the URL of the proxy."
            )
        case 407: break
        case let status:
            return Failure(
                .networkUnreachable,
                "The proxy \(proxy) answered HTTP \(status). Check the proxy in the settings.",
                isTransient: true
            )
        }
        // libcurl's words for the answers of RFC 1928 section 3 and RFC 1929 section 2.
        let refusals = ["rejected by the SOCKS", "No authentication method"]
        switch outcome.result {
        // libcurl reports the name of a SOCKS proxy as a host's. Behind such a proxy, the server's
        // own name is resolved by the proxy, or its failure is one of the proxy's.
        case .couldNotResolveProxy, .couldNotResolveHost:
            return Failure(
                .networkDNS,
                "The proxy \(proxy) was not found (\(words)). Check the proxy in the settings, and the"
                    + " network.",
                isTransient: true
            )
        case .couldNotConnect:
            return Failure(
                .networkUnreachable,
                "The proxy \(proxy) cannot be reached (\(words)). Check the proxy in the settings.",
                isTransient: true
            )
        case .timedOut where !hadBody:
            return .transient(
                .networkTimeout,
                "The proxy \(proxy), or the server behind it, did not answer in time (\(words))."
            )
        case .proxy where refusals.contains(where: words.contains):
            return Failure(
                .serverAuthRequired,
                "The SOCKS proxy \(proxy) wants a login, or refuses the one that it got. Put a login"
                    + " into the URL of the proxy."
            )
        case .proxy:
            return .transient(
                .networkUnreachable,
                "The proxy \(proxy) made no connection to the server (\(words))."
            )
        default: return nil
        }
    }

    /// The failure if the host as a whole refuses; nil for any other outcome.
    private var refusalOnTheWay: Failure? {
        if outcome.wasRefusedAddress {
            return Failure(
                .serverBadResponse,
                "A redirect, a metalink or a mirror that another host names leads to this computer or"
                    + " its local network, which is refused. Check the URL, or \(Failure.freshLink)"
            )
        }
        if let doubt = outcome.hostKeyDoubt {
            return Failure(.networkTLS, Self.sentence(on: doubt))
        }
        // FTP's replies from 400 on ask to come again later (RFC 959 section 4.2).
        let isReply: Bool
        switch outcome.result {
        case .loginDenied, .remoteAccessDenied, .remoteFileNotFound, .couldNotRetrieve,
            .commandRefused:
            // Public servers also answer 530 while they are full.
            isReply =
                (400..<500).contains(outcome.status)
                || outcome.status == 530
                    && Self.tellOfCrowds.contains { word in
                        outcome.loginRefusal.lowercased().contains(word)
                    }
        // These two come in place of a greeting; libcurl reports 421 as a timeout.
        case .weirdServerReply, .timedOut: isReply = [421, 530].contains(outcome.status)
        default: isReply = false
        }
        let text = "The FTP server answered \(outcome.status). It is busy: a later try may succeed."
        return isReply ? Failure(.serverBusy, text, isTransient: true) : nil
    }

    private static func sentence(on doubt: TransferOutcome.HostKeyDoubt) -> String {
        switch doubt {
        case .unknown:
            "The host's key is not in ~/.ssh/known_hosts. Sign in with `ssh` once to check it."
        case .changed:
            "The host shows another key than the one in ~/.ssh/known_hosts, and may not be the"
                + " host that you know. Ask its owner before you change that file."
        case .revoked:
            "The host shows a key that ~/.ssh/known_hosts marks as revoked. Ask the host's owner."
        }
    }
}
