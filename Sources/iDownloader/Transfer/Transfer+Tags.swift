// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

// What another strong ETag means for the bytes on disk (``TagEvidence``).
extension Transfer {
    /// Whether windows are asked for over new connections, to see which tags they come with.
    var isAskingForTags: Bool { findings.tags.isOpen(onDisk: stored.byteCount) }

    /// Whether a request has to go out over a new connection to show another tag.
    func isForTag(_ route: Connection.Route) -> Bool {
        guard case .sample = route.ask, case .lead = route.role else { return false }
        return isAskingForTags
    }

    /// Whether the connection's answer comes from the source and host that gave the validators on
    /// record.
    ///
    /// A restarted service knows neither: there the client's URL counts as the one that did, unless
    /// the client gave mirrors as well.
    func isFromValidatorOrigin(_ connection: Connection) -> Bool {
        guard !known.needsProof else { return false }
        guard let origin = findings.validators else {
            return connection.source == 0 && job.request.mirrors.isEmpty
        }
        return origin == validatorOrigin(of: connection)
    }

    /// Returns what a strong tag in the connection's answer means that differs from the record's.
    func meaningOfAnotherTag(from connection: Connection) -> TagMeaning {
        guard isFromValidatorOrigin(connection),
            !engine.hosts.hasSeveralTags(connection.hop.url.origin)
        else { return .nothing }
        return findings.tags.meaning(onDisk: stored.byteCount)
    }

    /// Takes note of the tag in an answer to a first connection.
    func hear(_ facts: ResponseFacts, from connection: Connection) {
        guard case .lead = connection.role, [200, 206].contains(facts.status), !stored.isEmpty,
            let recorded = known.strongTag
        else { return }
        let isNewConnection = isForTag(connection.route)
        guard isNewConnection || isFromValidatorOrigin(connection) else { return }
        findings.tags.hear(
            facts.entityTag,
            recorded: recorded,
            isNewConnection: isNewConnection
        )
    }

    /// The bytes on disk are of this version from now on, which the connection's answer has told.
    func know(_ version: RemoteVersion, from connection: Connection) {
        known = version
        findings.validators = validatorOrigin(of: connection)
    }

    private func validatorOrigin(of connection: Connection) -> SourceFindings.ValidatorOrigin {
        .init(source: sources.urls[connection.source], host: connection.hop.url.origin)
    }
}
