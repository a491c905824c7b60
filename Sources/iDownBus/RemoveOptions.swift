// SPDX-License-Identifier: Apache-2.0

package import DBus

/// The options of RemoveTasks.
public struct RemoveOptions: Hashable, Sendable {
    /// Whether finished files are moved to the trash; nil means that they stay.
    public var trashFiles: Bool?

    /// Creates options that leave everything to the service.
    public init() {}

    private static let table = OptionTable<RemoveOptions>([.init("trash-files", \.trashFiles)])

    /// Decodes the options of a call.
    ///
    /// - Throws: `InvalidOption`.
    package init(_ dictionary: [String: Value]) throws(ManagerError) {
        try Self.table.read(dictionary, into: &self)
    }

    /// The given options as `a{sv}`.
    package var dictionary: [String: Value] { Self.table.dictionary(of: self) }
}
