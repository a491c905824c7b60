// SPDX-License-Identifier: Apache-2.0

/// Is told of calls into the file system, so that a test can simulate a power cut or a dead
/// process.
///
/// A simulated power cut undoes what was not synced; a dead process makes no further calls.
package protocol DiskObserver: Sendable {
    /// Returns the errno with which the call fails; nil lets the call pass.
    func refusal(of call: StaticString) -> Int32?
    /// Whether the disk reports that it has no free bytes.
    var isFull: Bool { get }
    /// Tells that a write is about to replace these bytes.
    func willWrite(_ descriptor: Int32, at offset: Int64, count: Int)
    /// Tells that the file is about to get this length.
    func willTruncate(_ descriptor: Int32, to length: Int64)
    /// Tells that all changes to the file, or to the names in the folder, are durable.
    func didSynchronize(_ descriptor: Int32)
    /// Tells that a file without a name has got this one.
    func didLink(as name: String, in folder: Int32)
    /// Tells that the file has the new name and that the old one is free.
    func didRename(_ old: String, as new: String, in folder: Int32)
}
