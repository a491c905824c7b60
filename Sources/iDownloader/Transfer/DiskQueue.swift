// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// Two threads for what makes a disk wait: syncs, renames, folders.
///
/// Two, so that one file system that hangs does not stop all others; no more, since more only
/// queue up in the kernel.
package final class DiskQueue: Sendable {
    private let lanes = [
        DispatchQueue(label: "org.idown.disk.0"),
        DispatchQueue(label: "org.idown.disk.1"),
    ]
    /// Folders that clients name: one that hangs must not hold up a download, nor the other way.
    private let folders = DispatchQueue(label: "org.idown.disk.folders")
    /// Whole files that are read for their digests; a slice at a time, so that they take turns.
    let digests = DispatchQueue(label: "org.idown.disk.digests")

    package init() {}

    /// Runs `body` away from Swift's own threads.
    ///
    /// - Parameters:
    ///   - key: work with an equal key runs in the order of the calls; nil for clients' folders.
    ///   - body: may block.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws.
    package func run<Value: Sendable, Failure: Error>(
        key: Int64?,
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let lane = key.map { lanes[Int($0.magnitude % UInt64(lanes.count))] } ?? folders
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            lane.async {
                continuation.resume(returning: Result { () throws(Failure) in try body() })
            }
        }
        return try result.get()
    }
}
