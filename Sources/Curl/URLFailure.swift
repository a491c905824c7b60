// SPDX-License-Identifier: Apache-2.0

/// Why a text is not taken as a URL.
///
/// Never holds the text itself: it may be a secret.
public enum URLFailure: Error, Hashable, Sendable {
    /// It is no absolute URL with a host.
    case malformed(Reason)
    /// It has a scheme that the caller does not serve. Never thrown by ``URLReference``.
    case unsupportedScheme(String)
    /// There was no memory to read it.
    case outOfMemory

    /// What is wrong with the text.
    public enum Reason: String, Hashable, Sendable {
        /// More than 64 KiB.
        case tooLong = "it is longer than 64 KiB"
        /// A control character, for example a line feed.
        case controlCharacter = "it contains a control character"
        /// A backslash, which some readers take for a slash.
        case backslash = "it contains a backslash"
        /// No `scheme:` at its start.
        case scheme = "it does not start with a scheme such as https:"
        /// Fewer or more than two slashes behind the scheme.
        case slashes = "its scheme must be followed by exactly two slashes"
        /// Nothing where the host belongs.
        case noHost = "it has no host"
        /// The host is neither a name nor an address.
        case host = "its host is neither a name nor an address"
        /// A port outside 1 to 65535.
        case port = "its port is not a number from 1 to 65535"
        /// User or password cannot be read.
        case userInfo = "its user or password cannot be read"
        /// Anything else.
        case syntax = "it cannot be read"
    }
}

extension URLFailure: CustomStringConvertible {
    /// Half a sentence that says what is wrong.
    public var description: String {
        switch self {
        case .malformed(let reason): reason.rawValue
        case .unsupportedScheme(let scheme): "the scheme \(scheme) is not supported"
        case .outOfMemory: "there is not enough memory to read it"
        }
    }
}
