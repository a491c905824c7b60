// SPDX-License-Identifier: Apache-2.0

public import DBus

/// The object path of a task: `/org/idown/Manager1/task/` followed by the id.
public struct TaskPath: Hashable, Sendable {
    /// The path below which all tasks are.
    public static let parent: ObjectPath = "/org/idown/Manager1/task"

    /// The id of the task.
    public let id: String
    /// The path as the bus uses it.
    public let objectPath: ObjectPath

    /// The path of the task with an id; nil if the text is not an id.
    public init?(id: String) {
        guard Self.isID(id), let path = try? Self.parent.appending(id) else { return nil }
        self.id = id
        objectPath = path
    }

    /// Returns the id of the task at a path; nil if it is not the path of a task.
    public static func id(at path: ObjectPath) -> String? {
        guard path.rawValue.hasPrefix(prefix) else { return nil }
        let id = String(Substring(path.rawValue.utf8.dropFirst(prefix.utf8.count)))
        return isID(id) ? id : nil
    }

    private static let prefix = parent.rawValue + "/"
    /// The length of a path with the largest id.
    private static let longest = prefix.utf8.count + String(Int64.max).utf8.count

    /// Returns the id for a text that may be an id or the path of a task's object.
    ///
    /// - Returns: The id; a text that is neither is returned as it is, so that an error can name
    ///   it.
    public static func id(meantBy text: String) -> String {
        // No longer text is read: it may have any length.
        guard text.utf8.first == UInt8(ascii: "/"), text.utf8.count <= longest,
            let path = try? ObjectPath(validating: text)
        else { return text }
        return id(at: path) ?? text
    }

    /// Returns whether a text is an id: a positive decimal number without sign or leading zeros.
    public static func isID(_ text: String) -> Bool {
        guard let number = Int64(text), number > 0 else { return false }
        return String(number) == text
    }
}
