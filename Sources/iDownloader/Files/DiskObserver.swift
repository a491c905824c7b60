// SPDX-License-Identifier: Apache-2.0

/// Is asked and told of calls into the file system, so that a test can make one fail, and simulate
/// a power cut or a dead process.
///
/// A simulated power cut undoes what was not synced; a dead process makes no further calls.
package protocol DiskObserver: Sendable {
    /// Tells whether a call fails.
    ///
    /// - Parameters:
    ///   - call: the name of the function.
    ///   - name: the name that it takes; empty if it takes none.
    /// - Returns: how the call fails; nil lets it pass.
    func fault(of call: StaticString, on name: String) -> DiskFault?
    /// Whether the disk reports that it has no free bytes.
    var isFull: Bool { get }
    /// The most bytes that one write takes: the kernel may cut any write short.
    var longestWrite: Int { get }
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

/// How a call into the file system fails.
package struct DiskFault: Sendable {
    let errno: Int32
    /// Whether the call is made and its answer is lost, as can happen on a network file system.
    let isMade: Bool

    package init(_ errno: Int32, isMade: Bool = false) {
        self.errno = errno
        self.isMade = isMade
    }
}
