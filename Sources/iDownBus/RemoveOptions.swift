// SPDX-License-Identifier: Apache-2.0

public import DBus

/// The options of RemoveTasks.
public struct RemoveOptions: Hashable, Sendable {
    /// Whether finished files are moved to the trash; nil means that they stay.
    public var trashFiles: Bool?

    /// Creates options that leave everything to the service.
    public init() {}

    private static let trashFilesKey = "trash-files"

    /// Decodes the options of a call.
    ///
    /// - Throws: `InvalidOption`.
    public init(_ dictionary: [String: Value]) throws(ManagerError) {
        self.init()
        for (key, value) in dictionary.sorted(by: { $0.key < $1.key }) {
            guard key == Self.trashFilesKey else {
                throw ManagerError(
                    .invalidOption,
                    "There is no option \(QuotedText(key)). The only option is \(Self.trashFilesKey)."
                )
            }
            guard case .boolean(let choice) = value else {
                throw ManagerError(
                    .invalidOption,
                    "\(key) must be of type b, not \(value.signature)."
                )
            }
            trashFiles = choice
        }
    }

    /// The given options as `a{sv}`.
    public var dictionary: [String: Value] {
        trashFiles.map { [Self.trashFilesKey: .boolean($0)] } ?? [:]
    }
}
