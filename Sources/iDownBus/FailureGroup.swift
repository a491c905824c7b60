// SPDX-License-Identifier: Apache-2.0

/// The origin of a failure: the part of an ErrorCode before its dot.
///
/// A client that does not know a code treats it like its group.
public enum FailureGroup: String, CaseIterable, Hashable, Sendable {
    /// The server could not be reached, or the connection broke.
    case network = "Network"
    /// The server refused, or sent an answer that cannot be used.
    case server = "Server"
    /// The disk, the folder or the file name is at fault.
    case file = "File"
    /// The bytes differ from the expected ones.
    case integrity = "Integrity"

    /// Reads the group of an ErrorCode such as `Network.DNS`; nil for an empty code or an unknown
    /// group.
    public init?(errorCode: String) { self.init(rawValue: String(errorCode.prefix { $0 != "." })) }
}
