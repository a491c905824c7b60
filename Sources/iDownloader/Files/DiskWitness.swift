// SPDX-License-Identifier: Apache-2.0

/// Hears of each call into the file system before it is made: a simulated power cut undoes what
/// was not synced by then, and a dead process makes no calls.
package protocol DiskWitness: Sendable {
    /// - Returns: nil lets the call pass; else what it fails with.
    func refusal(of call: StaticString) -> Int32?
    /// Whether it shows no room.
    var isFull: Bool { get }
    /// These bytes are about to be replaced.
    func willWrite(_ descriptor: Int32, at offset: Int64, count: Int)
    /// The file is about to get this length.
    func willTruncate(_ descriptor: Int32, to length: Int64)
    /// All that was done to the file, or to the names in the folder, lasts.
    func didSynchronize(_ descriptor: Int32)
    /// A file that had no name has this one now.
    func didLink(as name: String, in folder: Int32)
    /// The file has this name now; the old one is free.
    func didRename(_ old: String, as new: String, in folder: Int32)
}
