// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// Judges and makes folders that clients name, one after the other on each file system.
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

    private let disk: DiskQueue
    private let fileSystem: FileSystem
    private let waiting = Mutex<[ObjectIdentifier: [Look]]>([:])

    /// - Parameters:
    ///   - disk: its threads a folder may hold up.
    ///   - fileSystem: the door to the system.
    init(on disk: DiskQueue, fileSystem: FileSystem) {
        self.disk = disk
        self.fileSystem = fileSystem
    }

    /// The folder's path with its links resolved, once it is there.
    func prepare(_ path: String, rules: FolderRules) async throws(FolderRefusal) -> String {
        let queue = disk.folderQueue(for: path)
        let line = ObjectIdentifier(queue)
        let answer = await withCheckedContinuation { asker in
            let isNew = waiting.withLock { waiting in
                var looks = waiting.removeValue(forKey: line) ?? []
                defer { waiting[line] = looks }
                if let last = looks.indices.last, looks[last].path.utf8.elementsEqual(path.utf8),
                    looks[last].rules == rules
                {
                    looks[last].askers.append(asker)
                    return false
                }
                looks.append(Look(path: path, rules: rules, askers: [asker]))
                return true
            }
            if isNew { queue.async { [self] in lookAtFirst(of: line) } }
        }
        return try answer.get()
    }

    private func lookAtFirst(of line: ObjectIdentifier) {
        guard let look = waiting.withLock({ $0[line]?.removeFirst() }) else { return }
        let answer = Answer { () throws(FolderRefusal) in
            let folder = try TargetFolder(look.path, rules: look.rules, fileSystem: fileSystem)
            try folder.make(fileSystem: fileSystem)
            return folder.path
        }
        for asker in look.askers { asker.resume(returning: answer) }
    }
}
