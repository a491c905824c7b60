// SPDX-License-Identifier: Apache-2.0

public import DBus

/// The options of RemoveTasks; what is nil is left to the service.
public struct RemoveOptions: Hashable, Sendable {
    /// Whether finished files go to the trash; false if not given.
    public var trashFiles: Bool?

    /// No options at all.
    public init() {}

    private static let trashFilesKey = "trash-files"

    /// Reads the options of a call.
    ///
    /// - Throws: `InvalidOption`.
    public init(_ dictionary: [String: Value]) throws(ManagerError) {
        self.init()
        for (key, value) in dictionary.sorted(by: { $0.key < $1.key }) {
            guard key == Self.trashFilesKey else {
                throw ManagerError(
                    .invalidOption,
                    "there is no option \(QuotedText(key)); there is \(Self.trashFilesKey)"
                )
            }
            guard case .boolean(let choice) = value else {
                throw ManagerError(
                    .invalidOption,
                    "\(key) is of type b, not \(value.signature)"
                )
            }
            trashFiles = choice
        }
    }

    /// The options as `a{sv}`; only what is given.
    public var dictionary: [String: Value] {
        trashFiles.map { [Self.trashFilesKey: .boolean($0)] } ?? [:]
    }
}
