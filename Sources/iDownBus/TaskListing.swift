// SPDX-License-Identifier: Apache-2.0

package import DBus

/// The tasks of an answer, encoded one by one and never longer than an answer may be.
package struct TaskListing: Sendable {
    private var ids: [String] = []
    /// All tasks one after the other, each without the length of its dictionary.
    private var entries: [UInt8] = []
    /// Where the entries of each task end; they begin at a multiple of 8.
    private var ends: [Int] = []
    private let choice: TaskExcerpt.Choice

    /// Creates an empty list of tasks with these properties, Id and Serial; an empty array means all
    /// properties.
    package init(of properties: [TaskProperty] = []) {
        choice =
            properties.isEmpty
            ? .all
            : TaskExcerpt.Choice(
                TaskProperty.allCases.filter {
                    [.id, .serial].contains($0) || properties.contains($0)
                }
            )
    }

    /// The bytes of all tasks.
    package var byteCount: Int { entries.count }

    /// How many tasks are in the list.
    package var count: Int { ids.count }

    /// Appends a task.
    ///
    /// - Throws: `LimitExceeded` if the answer would be longer than ``Contract/maximumListBytes``.
    package mutating func append(_ task: TaskProperties) throws(ManagerError) {
        let dictionary = WireWriter(TaskExcerpt(task, choice)).bytes
        // The length of each, and the padding in front of it.
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

    /// The same tasks as objects, for GetManagedObjects: `a{oa{sa{sv}}}`.
    package struct Objects: BusType {
        /// Objects by their paths.
        package static var signature: Signature { [ObjectPath: [String: TaskProperties]].signature }

        let listing: TaskListing

        /// Takes a list.
        package init(_ listing: TaskListing) { self.listing = listing }

        /// Passes over objects: they are only sent.
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
