// SPDX-License-Identifier: Apache-2.0

/// Where a failure comes from: the part of an ErrorCode before its dot.
///
/// A client that does not know a code treats it as its group.
public enum FailureGroup: String, CaseIterable, Hashable, Sendable {
    /// No way to the server, or the way broke.
    case network = "Network"
    /// The server refuses, or answers what cannot be used.
    case server = "Server"
    /// The disk or the folder.
    case file = "File"
    /// The bytes are not the ones that were promised.
    case integrity = "Integrity"

    /// The group of an ErrorCode such as `Network.DNS`; nil for none and for unknown groups.
    public init?(errorCode: String) {
        self.init(rawValue: String(errorCode.prefix { $0 != "." }))
    }
}
