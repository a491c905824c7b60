// SPDX-License-Identifier: Apache-2.0

extension URLReference {
    /// Scheme, host and port: secrets are never sent to another origin (RFC 6454).
    public struct Origin: Hashable, Sendable {
        /// The scheme, in small letters.
        public let scheme: String
        /// The host, in small letters, without the dot that may end an absolute name: `host.` is
        /// `host`.
        public let host: String
        /// The port to connect to; nil where the scheme is unknown and the URL has no port.
        public let port: Int?
    }

    /// The URL's scheme, host and port.
    public var origin: Origin {
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        return Origin(scheme: scheme, host: name, port: effectivePort)
    }
}
