// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// One thread of the disk queue, and the syncs that gather while it is busy.
final class DiskLane: Sendable {
    /// What was done, and is to be brought to the disk.
    struct Due: Sendable {
        let sync: DiskSync
        /// How to answer once the sync is over.
        let answer: @Sendable (FileError?) -> Void
    }

    /// Does something; nil where there is nothing to sync and it has answered.
    typealias Job = @Sendable () -> Due?

    let queue: DispatchQueue
    private let waiting = Mutex<[Job]>([])

    init(label: String) { queue = DispatchQueue(label: label) }

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
