// SPDX-License-Identifier: Apache-2.0

/// The same answers for whoever signs in by HTTP; everybody else is asked to.
///
/// - Parameters:
///   - party: whether it is a host or a proxy that asks.
///   - challenges: what it takes, a field each.
///   - answer: what it says then.
/// - Returns: the script.
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
    /// Who wants to know who asks (RFC 9110 section 11).
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

        /// The field that answers it.
        package var answer: String {
            switch self {
            case .host: "Authorization"
            case .proxy: "Proxy-Authorization"
            }
        }
    }
}
