// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// Judges and makes folders that clients name, one after the other.
///
/// Whoever asks for the same folder as the last one in the queue shares that look, which has not
/// begun yet: a thousand calls that arrive together cost a handful, nobody gets an answer older
/// than the question, and all are answered in the order in which they asked.
final class FolderLooks: Sendable {
    private typealias Answer = Result<String, FolderRefusal>

    private struct Look {
        let path: String
        let rules: FolderRules
        var askers: [CheckedContinuation<Answer, Never>]
    }

    private let queue: DispatchQueue
    private let fileSystem: FileSystem
    private let waiting = Mutex<[Look]>([])

    /// - Parameters:
    ///   - queue: a serial one, which a folder may hold up.
    ///   - fileSystem: the door to the system.
    init(on queue: DispatchQueue, fileSystem: FileSystem) {
        self.queue = queue
        self.fileSystem = fileSystem
    }

    /// The folder's path with its links resolved, once it is there.
    func prepare(_ path: String, rules: FolderRules) async throws(FolderRefusal) -> String {
        let answer = await withCheckedContinuation { asker in
            let isNew = waiting.withLock { waiting in
                if let last = waiting.indices.last, waiting[last].path == path,
                    waiting[last].rules == rules
                {
                    waiting[last].askers.append(asker)
                    return false
                }
                waiting.append(Look(path: path, rules: rules, askers: [asker]))
                return true
            }
            if isNew { queue.async { [self] in lookAtFirst() } }
        }
        return try answer.get()
    }

    private func lookAtFirst() {
        let look = waiting.withLock { $0.removeFirst() }
        let answer = Answer { () throws(FolderRefusal) in
            let folder = try TargetFolder(look.path, rules: look.rules, fileSystem: fileSystem)
            try folder.make(fileSystem: fileSystem)
            return folder.path
        }
        for asker in look.askers { asker.resume(returning: answer) }
    }
}
