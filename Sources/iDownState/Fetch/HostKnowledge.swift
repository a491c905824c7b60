// SPDX-License-Identifier: Apache-2.0

/// What was learned about a host; one run of the service hands it to the next.
package struct HostKnowledge: Hashable, Sendable {
    /// Scheme, host and port; never more of a URL.
    package var host: String
    /// How many connections the host allows; nil where it has refused none.
    package var limit: Int?
    /// How many connections to one file were useful; nil where that was not found out.
    package var useful: UsefulConnections?
    /// Whether the host gave one unchanged file several ETags.
    package var hasSeveralTags = false
    /// How long ago the last of this was learned.
    package var age: Duration

    /// Whether nothing is known.
    var isEmpty: Bool { limit == nil && useful == nil && !hasSeveralTags }
}

extension HostKnowledge {
    /// Makes the record of a host of which nothing is known yet.
    package init(host: String, age: Duration) { self.init(host: host, limit: nil, age: age) }
}
