// SPDX-License-Identifier: Apache-2.0

public import DBus

/// The object path of a task: its id below `/org/idown/Manager1/task`.
public struct TaskPath: Hashable, Sendable {
    /// The path under which all tasks stand.
    public static let parent: ObjectPath = "/org/idown/Manager1/task"

    /// The task's id.
    public let id: String
    /// The path as the bus takes it.
    public let objectPath: ObjectPath

    /// The path of the task with this id; nil if the text is no id.
    public init?(id: String) {
        guard Self.isID(id), let path = try? Self.parent.appending(id) else { return nil }
        self.id = id
        objectPath = path
    }

    /// Reads a path; nil if it is no task's.
    public init?(_ path: ObjectPath) {
        guard let id = Self.id(at: path) else { return nil }
        self.id = id
        objectPath = path
    }

    /// The id of the task whose path this is; nil if it is no task's.
    public static func id(at path: ObjectPath) -> String? {
        let prefix = parent.rawValue.utf8
        let text = path.rawValue.utf8
        guard text.starts(with: prefix) else { return nil }
        let rest = text.dropFirst(prefix.count)
        guard rest.first == UInt8(ascii: "/") else { return nil }
        let id = String(Substring(rest.dropFirst()))
        return isID(id) ? id : nil
    }

    /// The id that a client means: methods take an id, and the task's object path in its place.
    ///
    /// - Returns: The id; a text that is neither, as it is, so that an error can name it.
    public static func id(meantBy text: String) -> String {
        guard let path = try? ObjectPath(validating: text), let task = TaskPath(path) else {
            return text
        }
        return task.id
    }

    /// Whether a text is an id: a positive decimal number without sign or leading zeros.
    public static func isID(_ text: String) -> Bool {
        guard let number = Int64(text), number > 0 else { return false }
        return String(number) == text
    }
}
