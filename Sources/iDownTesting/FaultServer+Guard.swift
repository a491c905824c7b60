// SPDX-License-Identifier: Apache-2.0

/// Returns a script that requires HTTP authentication before it gives the same answers.
///
/// - Parameters:
///   - party: Whether a host or a proxy requires it.
///   - challenges: The accepted challenges, each sent as a field of its own.
///   - answer: The answers for requests with an accepted scheme.
/// - Returns: The script.
package func guarded(
    as party: FaultServer.Guard = .host,
    by challenges: [String] = ["Basic realm=\"here\""],
    _ answer: @escaping @Sendable (RecordedRequest) -> [FaultServer.Step]
) -> @Sendable (RecordedRequest) -> [FaultServer.Step] {
    { request in
        let scheme = request[party.answer]?.prefix { $0 != " " }
        if let scheme, challenges.contains(where: { $0.hasPrefix(scheme) }) {
            return answer(request)
        }
        let fields = challenges.map { (party.challenge, $0) }
        return [.head(party.status, fields + [("Content-Length", "2")]), .text("no")]
    }
}

extension FaultServer {
    /// The party that requires authentication (RFC 9110 section 11).
    package enum Guard: Sendable {
        case host, proxy

        fileprivate var status: String {
            switch self {
            case .host: "401 Unauthorized"
            case .proxy: "407 Proxy Authentication Required"
            }
        }

        fileprivate var challenge: String {
            switch self {
            case .host: "WWW-Authenticate"
            case .proxy: "Proxy-Authenticate"
            }
        }

        /// The name of the request field with the credentials.
        package var answer: String {
            switch self {
            case .host: "Authorization"
            case .proxy: "Proxy-Authorization"
            }
        }
    }
}
