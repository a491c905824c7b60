// SPDX-License-Identifier: Apache-2.0

import Curl
import iDownState

// Several sources of one file, side by side: only where a digest vouches for what they bring
// together.
extension Transfer {
    /// A source that further connections may ask, and the host that they come to.
    struct Place {
        let source: Int
        let origin: URLReference.Origin
    }

    /// The sources that may bring parts, that of the first connection before the others.
    func places(of joining: Joining) -> [Place] {
        let sources = fetch.sources.besides(joining.source, hasDigest: fetch.hasDigest)
        return sources.map { source in
            let hop = joining.hops[source] ?? firstHop(to: source)
            return Place(source: source, origin: hop.url.origin)
        }
    }

    /// How many more connections all of them have room for.
    func room(at places: [Place]) -> Int {
        Set(places.map(\.origin)).reduce(0) { $0 + engine.hosts.room($1) }
    }

    /// Where the fewest connections of this transfer are, and another has room.
    ///
    /// A mirror that has not answered yet is not asked a second time: it may never answer.
    func freestPlace(of joining: Joining) -> Place? {
        let places = places(of: joining).filter { place in
            place.source == joining.source || !isAwaiting(place)
        }
        let free = places.filter { engine.hosts.room($0.origin) > 0 }
        return (free.isEmpty ? Array(places.prefix(1)) : free).min { load(of: $0) < load(of: $1) }
    }

    private func isAwaiting(_ place: Place) -> Bool {
        connections.contains { $0.source == place.source && $0.judgement == nil }
    }

    private func load(of place: Place) -> Int {
        connections.count { $0.source == place.source && !$0.isCut }
    }

    /// Has a source bring nothing further that failed, or was slow, where another does better.
    ///
    /// - Returns: false where it is the source of the first connection, which is never given up.
    @discardableResult
    func dropSource(of connection: Connection) -> Bool {
        guard let joining, connection.source != joining.source else { return false }
        fetch.sources.drop(connection.source)
        return true
    }
}
