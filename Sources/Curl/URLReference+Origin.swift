// SPDX-License-Identifier: Apache-2.0

extension URLReference {
    /// Scheme, host and port: the border that secrets do not cross (RFC 6454).
    public struct Origin: Hashable, Sendable {
        /// Lowercase.
        public let scheme: String
        /// Lowercase, without the dot that may end an absolute name: `host.` is `host`.
        public let host: String
        /// The port connected to; nil where the scheme is unknown and none is given.
        public let port: Int?
    }

    /// Where the URL leads, without what it asks for there.
    public var origin: Origin {
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        return Origin(scheme: scheme, host: name, port: effectivePort)
    }
}
