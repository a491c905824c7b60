// SPDX-License-Identifier: Apache-2.0

extension URLReference {
    /// Returns the URL that a `Location` field of this URL's answer means (RFC 3986 section 5).
    ///
    /// A relative location on the same host keeps user and password.
    ///
    /// - Throws: ``URLFailure``, by the same rules as ``init(_:)``.
    public func resolving(_ location: String) throws(URLFailure) -> URLReference {
        let trimmed = Self.trimmed(location)
        guard Self.scheme(of: location) == nil else { return try URLReference(location) }
        guard !trimmed.hasPrefix("//") else { return try URLReference("\(scheme):\(trimmed)") }
        let relative = try Self.encodedReference(trimmed)
        let handle = try URLHandle(Funnel(faults: nil))
        try handle.set(text)
        // A location with only a fragment, or nothing, means this URL itself.
        if !relative.isEmpty { try handle.set(relative) }
        let resolved = try URLReference(handle)
        // libcurl takes `1a://host/` for a whole URL; by RFC 3986 section 3.1 it has no valid
        // scheme.
        guard resolved.scheme == scheme else { throw .scheme }
        return resolved
    }
}
