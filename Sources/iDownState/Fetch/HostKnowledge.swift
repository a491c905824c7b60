// SPDX-License-Identifier: Apache-2.0

/// What was learned of a host, as one run of the service hands it to the next.
package struct HostKnowledge: Hashable, Sendable {
    /// Scheme, host and port, and never more of a URL.
    package var host: String
    /// How many connections it was found to allow; nil where it has refused none.
    package var limit: Int?
    /// How many connections to one file were found to be of use; nil if none was.
    package var useful: UsefulConnections?
    /// Whether it gave one unchanged file several ETags.
    package var hasSeveralTags: Bool
    /// How long ago that was.
    package var age: Duration

    package init(
        host: String,
        limit: Int?,
        useful: UsefulConnections?,
        hasSeveralTags: Bool = false,
        age: Duration
    ) {
        self.host = host
        self.limit = limit
        self.useful = useful
        self.hasSeveralTags = hasSeveralTags
        self.age = age
    }
}
