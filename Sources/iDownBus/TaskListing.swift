// SPDX-License-Identifier: Apache-2.0

package import DBus

/// The tasks of an answer, encoded one by one and within the limit of an answer's length.
package struct TaskListing: Sendable {
    private var ids: [String] = []
    /// All tasks one after the other, each without its dictionary's length.
    private var entries: [UInt8] = []
    /// The ends of each task's entries; the entries begin at a multiple of 8.
    private var ends: [Int] = []
    private let choice: TaskExcerpt.Choice

    /// Creates an empty list; an empty array of properties means all.
    ///
    /// Id and Serial are always included.
    package init(of properties: [TaskProperty] = []) {
        let chosen = TaskProperty.allCases.filter {
            [.id, .serial].contains($0) || properties.contains($0)
        }
        choice = properties.isEmpty ? .all : TaskExcerpt.Choice(chosen)
    }

    /// The number of bytes of all tasks.
    package var byteCount: Int { entries.count }

    /// The number of tasks.
    package var count: Int { ids.count }

    /// Appends a task.
    ///
    /// - Throws: `LimitExceeded` if the answer would be longer than ``Contract/maximumListBytes``.
    package mutating func append(_ task: TaskProperties) throws(ManagerError) {
        let dictionary = WireWriter(TaskExcerpt(task, choice)).bytes
        // Each task adds the length of its dictionary and the padding before it: at most 8 bytes.
        let size = entries.count + dictionary.count + (ids.count + 1) * 8
        guard size <= Contract.maximumListBytes else {
            throw ManagerError(
                .limitExceeded,
                "The answer would be longer than \(Contract.maximumListBytes >> 20) MiB. Ask for the"
                    + " list in pages with FindTasks."
            )
        }
        entries += repeatElement(0, count: -entries.count & 7)
        entries += dictionary[8...]
        ends.append(entries.count)
        ids.append(task.id)
    }

    /// Appends the dictionary of a task.
    fileprivate func write(_ place: Int, to writer: inout WireWriter) {
        let start = place == 0 ? 0 : (ends[place - 1] + 7) & ~7
        writer.array(of: "{") { $0.append(entries[start..<ends[place]]) }
    }
}

/// The list as the methods of the manager return it, `aa{sv}`.
extension TaskListing: BusType {
    /// An array of dictionaries.
    package static var signature: Signature { [TaskProperties].signature }

    /// Reads a list.
    package init(from reader: inout WireReader) throws(DecodingFailure) {
        self.init()
        for task in try [TaskProperties](from: &reader) { try? append(task) }
    }

    /// Appends all tasks.
    package func write(to writer: inout WireWriter) {
        writer.array(of: TaskProperties.signature) { writer in
            for place in ids.indices { write(place, to: &writer) }
        }
    }

    /// The tasks as objects for GetManagedObjects: `a{oa{sa{sv}}}`.
    package struct Objects: BusType {
        /// A dictionary of objects by path.
        package static var signature: Signature { [ObjectPath: [String: TaskProperties]].signature }

        let listing: TaskListing

        /// Creates the objects of a list.
        package init(_ listing: TaskListing) { self.listing = listing }

        /// Skips the objects: they are only sent.
        package init(from reader: inout WireReader) throws(DecodingFailure) {
            listing = TaskListing()
            _ = try [ObjectPath: [String: TaskProperties]](from: &reader)
        }

        /// Appends all tasks.
        package func write(to writer: inout WireWriter) {
            writer.array(of: "{") { writer in
                for (place, id) in listing.ids.enumerated() {
                    guard let path = TaskPath(id: id) else { continue }
                    writer.structure { writer in
                        path.objectPath.write(to: &writer)
                        writer.array(of: "{") { writer in
                            writer.structure { writer in
                                Contract.taskInterface.rawValue.write(to: &writer)
                                listing.write(place, to: &writer)
                            }
                        }
                    }
                }
            }
        }
    }
}
