// SPDX-License-Identifier: Apache-2.0

package import DBus

/// The options of RemoveTasks.
public struct RemoveOptions: Hashable, Sendable {
    /// Whether finished files are moved to the trash; nil means that they stay.
    public var trashFiles: Bool?

    /// Creates options that leave everything to the service.
    public init() {}

    private enum Key: String, OptionKey {
        case trashFiles = "trash-files"
    }

    /// Decodes the options of a call.
    ///
    /// - Throws: `InvalidOption`.
    package init(_ dictionary: [String: Value]) throws(ManagerError) {
        self.init()
        try Key.forEach(in: dictionary) { (key, value) throws(ManagerError) in
            trashFiles = try key.read(value)
        }
    }

    /// The given options as `a{sv}`.
    package var dictionary: [String: Value] {
        trashFiles.map { [Key.trashFiles.rawValue: .boolean($0)] } ?? [:]
    }
}
