// SPDX-License-Identifier: Apache-2.0

import Curl
import Testing
import iDownState

@testable import iDownloader

@Suite(.timeLimit(.minutes(1)))
struct FailureOfCurlTests {
    @Test(arguments: [
        "User was rejected by the SOCKS5 server (1 2).", "No authentication method was acceptable.",
    ])
    func `a SOCKS proxy that refuses the login ends the task, and tells where the login goes`(
        words: String
    ) {
        let failure = Self.failure(.proxy, words)
        #expect(failure.code == .serverAuthRequired)
        #expect(!failure.isTransient)
        #expect(failure.message.hasPrefix("The SOCKS proxy p:1080 "))
        #expect(failure.message.contains("login into the URL of the proxy"))
    }

    @Test func `a SOCKS proxy that cannot reach the host is asked again`() {
        let words = "Can't complete SOCKS5 connection to host. (4)"
        let failure = Self.failure(.proxy, words)
        #expect(failure.code == .networkUnreachable)
        #expect(failure.isTransient)
        #expect(failure.message.hasPrefix("The proxy p:1080 "))
    }

    @Test func `silence behind a proxy names the proxy until the server has sent something`() {
        let failure = Self.failure(.timedOut, "Connection timed out after 15001 milliseconds")
        #expect(failure.code == .networkTimeout)
        #expect(failure.message.hasPrefix("The proxy p:1080, or the server "))
        let stall = Self.failure(.timedOut, "Operation too slow", hadBody: true)
        #expect(stall.code == .networkStalled)
        #expect(!stall.message.contains("proxy"))
    }

    @Test(arguments: [(407, FailureCode.serverAuthRequired), (502, .networkUnreachable)])
    func `a proxy that refuses a tunnel is named`(status: Int, code: FailureCode) {
        let words = "CONNECT tunnel failed, response \(status)"
        let failure = Self.failure(.receiveError, words, status: status)
        #expect(failure.code == code)
        #expect(failure.message.hasPrefix("The proxy p:1080 answered HTTP \(status)."))
    }

    @Test func `a proxy that has asked for a login and then keeps silent has not refused it`() {
        let words = "Proxy CONNECT aborted due to timeout"
        let failure = Self.failure(.timedOut, words, status: 407)
        #expect(failure.code == .networkTimeout)
        #expect(failure.isTransient)
    }

    private static func failure(
        _ result: CurlCode,
        _ words: String,
        status: Int = 0,
        hadBody: Bool = false
    ) -> Failure {
        var outcome = TransferOutcome(result, words)
        outcome.proxy = "p:1080"
        outcome.proxyStatus = status
        return Failure(outcome, hadBody: hadBody)
    }

    @Test(arguments: [
        ("Failure establishing ssh session: -13, Failed getting banner", FailureCode.networkReset),
        ("Failure establishing ssh session: -43, Failed getting banner", .networkReset),
        ("Failure establishing ssh session: -1, Unable to exchange encryption keys", .networkReset),
        ("Failure establishing ssh session: -8, Unable to exchange encryption keys", .networkReset),
        ("Failure initializing sftp session: Unable to startup channel", .networkReset),
        ("Failure establishing ssh session: -5, Unable to exchange encryption keys", .networkTLS),
        ("Failure initializing sftp session: Unable to request SFTP subsystem", .serverBadResponse),
    ])
    func `an SSH connection that is cut is made again, and a host that does not fit is not`(
        words: String,
        code: FailureCode
    ) {
        var outcome = TransferOutcome(.failedInitialization, words)
        outcome.isFromFileServer = true
        let failure = Failure(outcome, hadBody: false)
        #expect(failure.code == code)
        #expect(failure.isTransient == (code == .networkReset))
        #expect(failure.message.contains("not be safe") == (code == .networkTLS))
    }

    @Test func `words of libcurl end no sentence in a bracket`() {
        let words = "Operation too slow. Less than 1 bytes/sec transferred the last 60 seconds"
        let failure = Failure(TransferOutcome(.timedOut, words), hadBody: false)
        #expect(failure.message.contains("(Operation too slow; Less than 1 bytes/sec"))
    }

    @Test func `a certificate that is not valid yet may be, once the clock is set`() {
        let words = "SSL certificate problem: certificate is not yet valid"
        let failure = Failure(TransferOutcome(.peerVerification, words), hadBody: false)
        #expect(failure.code == .networkTLS)
        #expect(failure.isTransient)
    }

    @Test(arguments: [(CurlCode.peerVerification, false), (.badCertificateFile, true)])
    func `certificates that cannot be read now may be read later`(code: CurlCode, passes: Bool) {
        let failure = Failure(TransferOutcome(code, "error"), hadBody: false)
        #expect(failure.code == .networkTLS)
        #expect(failure.isTransient == passes)
    }

    @Test(arguments: [(false, "http://"), (true, "port 990")])
    func `where no TLS is spoken, the advice fits the scheme`(isFTP: Bool, advice: String) {
        var outcome = TransferOutcome(.tlsConnect, "OpenSSL/3: wrong version number")
        outcome.isFromFileServer = isFTP
        #expect(Failure(outcome, hadBody: false).message.contains(advice))
    }
}
