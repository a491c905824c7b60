// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// Judges and makes folders that clients name, one after the other on each file system.
///
/// Whoever asks for the same folder as the last one in the queue shares that look, which has not
/// begun yet: a thousand calls that arrive together cost a handful, nobody gets an answer older
/// than the question, and all are answered in the order in which they asked. A file system that does
/// not answer in time refuses all who ask, the later ones at once, until it answers.
final class FolderLooks: Sendable {
    private typealias Answer = Result<String, FolderRefusal>

    private final class Look: Sendable {
        let path: String
        let rules: FolderRules
        /// Empty once they were answered.
        let askers: Mutex<[CheckedContinuation<Answer, Never>]>

        init(_ path: String, _ rules: FolderRules, _ asker: CheckedContinuation<Answer, Never>) {
            self.path = path
            self.rules = rules
            askers = Mutex([asker])
        }

        var isAwaited: Bool { askers.withLock { !$0.isEmpty } }

        /// Those to be answered now, once.
        func takeAskers() -> [CheckedContinuation<Answer, Never>] {
            askers.withLock { askers in
                defer { askers = [] }
                return askers
            }
        }
    }

    private struct Line {
        var looks: [Look] = []
        /// It has not answered in time, and not since.
        var isSilent = false
    }

    private let disk: DiskQueue
    private let fileSystem: FileSystem
    private let longestWait: DispatchTimeInterval
    private let lines = Mutex<[ObjectIdentifier: Line]>([:])
    private let timer = DispatchQueue(label: "org.idown.disk.folders.timer")

    /// - Parameters:
    ///   - disk: its threads a folder may hold up.
    ///   - fileSystem: the door to the system.
    ///   - longestWait: how long anybody waits for an answer.
    init(
        on disk: DiskQueue,
        fileSystem: FileSystem,
        longestWait: DispatchTimeInterval = .seconds(2)
    ) {
        self.disk = disk
        self.fileSystem = fileSystem
        self.longestWait = longestWait
    }

    /// The folder's path with its links resolved, once it is there.
    func prepare(_ path: String, rules: FolderRules) async throws(FolderRefusal) -> String {
        let queue = disk.folderQueue(for: path)
        let line = ObjectIdentifier(queue)
        let answer = await withCheckedContinuation { asker in
            let (look, isSilent): (Look?, Bool) = lines.withLock { lines in
                if lines[line]?.isSilent == true { return (nil, true) }
                if let last = lines[line]?.looks.last, last.path.utf8.elementsEqual(path.utf8),
                    last.rules == rules
                {
                    let isShared = last.askers.withLock { askers in
                        if !askers.isEmpty { askers.append(asker) }
                        return !askers.isEmpty
                    }
                    if isShared { return (nil, false) }
                }
                let look = Look(path, rules, asker)
                lines[line, default: Line()].looks.append(look)
                return (look, false)
            }
            if isSilent { asker.resume(returning: Self.silence) }
            guard let look else { return }
            queue.async { [self] in lookAtFirst(of: line) }
            timer.asyncAfter(deadline: .now() + longestWait) { [self] in
                let askers = lines.withLock { lines in
                    let askers = look.takeAskers()
                    if !askers.isEmpty { lines[line]?.isSilent = true }
                    return askers
                }
                for asker in askers { asker.resume(returning: Self.silence) }
            }
        }
        return try answer.get()
    }

    private static let silence = Answer.failure(
        FolderRefusal(
            "The folder's disk does not answer. Choose another folder, or try again later."
        )
    )

    private func lookAtFirst(of line: ObjectIdentifier) {
        let look = lines.withLock { lines in
            lines[line]?.isSilent = false
            return lines[line]?.looks.removeFirst()
        }
        // Nobody waits any more for the folder to be made.
        guard let look, look.isAwaited else { return }
        let answer = Answer { () throws(FolderRefusal) in
            let folder = try TargetFolder(look.path, rules: look.rules, fileSystem: fileSystem)
            try folder.make(fileSystem: fileSystem)
            return folder.path
        }
        let askers = lines.withLock { lines in
            lines[line]?.isSilent = false
            return look.takeAskers()
        }
        for asker in askers { asker.resume(returning: answer) }
    }
}
