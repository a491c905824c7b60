// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// One thread of the disk queue, and the syncs that gather while it is busy.
final class DiskLane: Sendable {
    /// Something to do and then to bring to the disk.
    struct Job: Sendable {
        let sync: DiskSync
        /// Does it; gives back how to answer once the sync is over, nil where it has answered.
        let run: @Sendable () -> (@Sendable (FileError?) -> Void)?
    }

    let queue: DispatchQueue
    private let waiting = Mutex<[Job]>([])

    init(label: String) { queue = DispatchQueue(label: label) }

    func submit(_ job: Job) {
        waiting.withLock { $0.append(job) }
        queue.async { [self] in runAll() }
    }

    /// The first of several takes the jobs of all; the others find nothing left.
    private func runAll() {
        let jobs = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        let answers = jobs.map { job in (job.sync, job.run()) }
        let due = answers.compactMap { sync, answer in answer.map { (sync, $0) } }
        guard due.count > 1 else {
            for (sync, answer) in due { answer(sync.failure()) }
            return
        }
        // Started all at once, the writes share what the file system pays for a commit.
        for (sync, _) in due { sync.begin() }
        var folders: [FileIdentity: FileError?] = [:]
        for (sync, answer) in due {
            guard let folder = sync.folder else {
                answer(sync.failure())
                continue
            }
            let failure = folders[folder] ?? sync.failure()
            folders.updateValue(failure, forKey: folder)
            answer(failure)
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
