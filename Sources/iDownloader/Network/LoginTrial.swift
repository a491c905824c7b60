// SPDX-License-Identifier: Apache-2.0

package import Curl
import Synchronization
import iDownState

extension NetworkConfiguration {
    /// The server's answer to a login.
    package enum Verdict: Hashable, Sendable {
        case accepted
        case refused(String)
        /// The server's answer tells nothing about the login, or no server could be reached.
        case unknown(String)
    }

    /// The most redirects followed.
    private static let mostRedirects = 5

    /// Tries a user name and password at a server as a download would, without fetching the file.
    ///
    /// - Parameters:
    ///   - credentials: the login, which is sent only to the URL's scheme, host and port.
    ///   - url: the URL to request; a login in the URL is not used.
    ///   - pool: runs the request.
    /// - Returns: the verdict, with a message that contains no secret.
    package func verdict(
        on credentials: TransferRequest.Credentials,
        at url: URLReference,
        by pool: any TransferDriver
    ) async -> Verdict {
        var place = url
        await refreshFiles()
        for _ in 0...Self.mostRedirects {
            var request = TransferRequest(url: place)
            lead(&request)
            request.credentials = credentials
            request.ssh.logins = [.password]
            let sink = TrialSink()
            let outcome = await pool.begin(request, sink: sink).outcome()
            guard place.isHTTP else { return Self.verdict(of: outcome) }
            // A status without a head is that of a challenge whose answer got none.
            guard sink.hasHead else { return .unknown(Self.text(outcome)) }
            switch outcome.status {
            case 200..<300: return .accepted
            case 401: return .refused("the server answered HTTP 401")
            case 300..<400:
                guard let location = sink.location, let next = try? place.resolving(location),
                    next.origin == url.origin
                else { return .unknown("the server redirects to another server") }
                place = next
            default: return .unknown("the server answered HTTP \(outcome.status)")
            }
        }
        return .unknown("the server redirects in circles")
    }

    /// Returns the verdict for FTP and SFTP: a server that looks for the file has accepted the
    /// login.
    private static func verdict(of outcome: TransferOutcome) -> Verdict {
        switch outcome.result {
        case .ok, .writeError, .remoteFileNotFound, .remoteAccessDenied, .couldNotRetrieve:
            .accepted
        case .loginDenied: .refused(text(outcome))
        default: .unknown(text(outcome))
        }
    }

    private static func text(_ outcome: TransferOutcome) -> String {
        outcome.message.isEmpty ? outcome.result.description : outcome.message
    }
}

/// Reads the head, and ends the transfer when the body begins.
private final class TrialSink: TransferSink {
    private let reader = Mutex(HeadReader())

    var hasHead: Bool { reader.withLock { $0.head != nil } }
    var location: String? { reader.withLock { $0.head?.facts.location } }

    func receive(headerLine: UnsafeRawBufferPointer) -> Bool {
        reader.withLock { (try? $0.read(line: headerLine)) != nil }
    }

    func receive(body: UnsafeRawBufferPointer) -> BodyVerdict { .abort }
}
