// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization

/// One thread for calls into one file system, and the syncs that gather while it is busy.
///
/// The thread is there only while it has work.
final class DiskLane: Sendable {
    /// What was done, and is to be brought to the disk.
    struct Due: Sendable {
        let sync: DiskSync
        /// How to answer once the sync is over.
        let answer: @Sendable (FileError?) -> Void
    }

    /// Does something; nil where there is nothing to sync and it has answered.
    typealias Job = @Sendable () -> Due?

    private struct Weak: Sendable {
        weak let lane: DiskLane?
    }

    private static let key = DispatchSpecificKey<Weak>()

    let queue: DispatchQueue
    /// Where the bytes of files are written that are opened here; nil where none are.
    let bytes: DispatchQueue?
    private let waiting = Mutex<[Job]>([])
    private let closing = Mutex<[Int32]>([])

    init(label: String, bytes: DispatchQueue? = nil) {
        queue = DispatchQueue(label: label)
        self.bytes = bytes
        queue.setSpecific(key: Self.key, value: Weak(lane: self))
    }

    /// The lane whose thread the caller is on; nil on any other thread.
    static var current: DiskLane? { DispatchQueue.getSpecific(key: key)?.lane }

    /// Has descriptors closed behind the work that waits by now; returns at once.
    func close(_ descriptor: Int32) {
        let isFirst = closing.withLock { closing in
            closing.append(descriptor)
            return closing.count == 1
        }
        guard isFirst else { return }
        queue.async { [self] in
            let descriptors = closing.withLock { closing in
                defer { closing = [] }
                return closing
            }
            for descriptor in descriptors { _ = Glibc.close(descriptor) }
        }
    }

    func submit(_ job: @escaping Job) {
        waiting.withLock { $0.append(job) }
        queue.async { [self] in runAll() }
    }

    /// The first of several takes the jobs of all; the others find nothing left.
    private func runAll() {
        let jobs = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        let due = jobs.compactMap { $0() }
        guard due.count > 1 else {
            for work in due { work.answer(work.sync.failure()) }
            return
        }
        // Started all at once, the writes share what the file system pays for a commit.
        for work in due { work.sync.begin() }
        var folders: [FileIdentity: FileError?] = [:]
        for work in due {
            guard let folder = work.sync.folder else {
                work.answer(work.sync.failure())
                continue
            }
            let failure = folders[folder] ?? work.sync.failure()
            folders.updateValue(failure, forKey: folder)
            work.answer(failure)
        }
    }
}

/// What is to be brought to the disk.
package enum DiskSync: Sendable {
    /// A file with its permissions and attributes.
    case file(PartFile)
    /// The names in a folder.
    case folder(OpenFolder)

    /// Has the kernel start to write, and does not wait.
    fileprivate func begin() {
        switch self {
        case .file(let part): part.startWriting()
        case .folder: break
        }
    }

    /// The folder, whoever has it open: one sync serves all.
    ///
    /// Nil for a file, which nobody else has.
    fileprivate var folder: FileIdentity? {
        switch self {
        case .file: nil
        case .folder(let folder): try? folder.identity()
        }
    }

    /// Brings it to the disk; why that failed, nil where it lasts now.
    func failure() -> FileError? {
        do throws(FileError) {
            switch self {
            case .file(let part): try part.synchronize()
            case .folder(let folder): try folder.synchronize()
            }
            return nil
        } catch {
            return error
        }
    }
}
