// SPDX-License-Identifier: Apache-2.0

/// Why a text is not accepted as a URL.
///
/// It never contains the text itself, which may be a secret.
public enum URLFailure: String, Error {
    /// The text is longer than 64 KiB.
    case tooLong = "it is longer than 64 KiB"
    /// The text contains a control character, for example a line feed.
    case controlCharacter = "it contains a control character"
    /// The text contains a backslash, which some parsers take for a slash.
    case backslash = "it contains a backslash"
    /// The text does not start with `scheme:`.
    case scheme = "it does not start with a scheme such as https:"
    /// Fewer or more than two slashes follow the scheme.
    case slashes = "its scheme must be followed by exactly two slashes"
    /// The host is empty.
    case noHost = "it has no host"
    /// The host is neither a name nor an address.
    case host = "its host is neither a name nor an address"
    /// The port is outside 1 to 65535.
    case port = "its port is not a number from 1 to 65535"
    /// User or password cannot be read.
    case userInfo = "its user or password cannot be read"
    /// Any other fault.
    case syntax = "it cannot be read"
    /// There was no memory to read the text.
    case outOfMemory = "there is not enough memory to read it"
}

extension URLFailure: CustomStringConvertible {
    /// Says what is wrong, as the second half of a sentence.
    public var description: String { rawValue }
}
