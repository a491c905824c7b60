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
        /// The line that it stands in, and how many it stood in before.
        let place: Mutex<(line: UInt64, hops: Int)>
        /// Empty once they were answered.
        let askers: Mutex<[CheckedContinuation<Answer, Never>]>

        init(
            _ path: String,
            _ rules: FolderRules,
            in line: UInt64,
            for asker: CheckedContinuation<Answer, Never>
        ) {
            self.path = path
            self.rules = rules
            place = Mutex((line, 0))
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
    private let longestWait: Duration
    /// By device number.
    private let lines = Mutex<[UInt64: Line]>([:])

    /// - Parameters:
    ///   - disk: its threads a folder may hold up.
    ///   - fileSystem: the door to the system.
    ///   - longestWait: how long anybody waits for an answer.
    init(
        on disk: DiskQueue,
        fileSystem: FileSystem,
        longestWait: Duration = .seconds(2)
    ) {
        self.disk = disk
        self.fileSystem = fileSystem
        self.longestWait = longestWait
    }

    /// The folder's path with its links resolved, once it is there.
    func prepare(_ path: String, rules: FolderRules) async throws(FolderRefusal) -> String {
        let line = disk.fileSystem(of: path) ?? 0
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
                let look = Look(path, rules, in: line, for: asker)
                lines[line, default: Line()].looks.append(look)
                return (look, false)
            }
            if isSilent { asker.resume(returning: Self.silence) }
            guard let look else { return }
            disk.folderQueue(for: path).async { [self] in lookAtFirst(of: line) }
            Task { [self] in
                try? await Task.sleep(for: longestWait, clock: .continuous)
                let askers = lines.withLock { lines in
                    let askers = look.takeAskers()
                    if !askers.isEmpty { lines[look.place.withLock(\.line)]?.isSilent = true }
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

    private func lookAtFirst(of line: UInt64) {
        let look = lines.withLock { lines in
            lines[line]?.isSilent = false
            return lines[line]?.looks.removeFirst()
        }
        // Nobody waits any more for the folder to be made.
        guard let look, look.isAwaited else { return }
        if let place = exit(of: look.path, from: line), handOn(look, to: place) { return }
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

    /// Puts a look into the line of the file system that its path leads to.
    ///
    /// - Returns: false where it has gone on for long enough.
    private func handOn(_ look: Look, to place: String) -> Bool {
        let line = disk.fileSystem(of: place) ?? 0
        let refused: [CheckedContinuation<Answer, Never>]? = lines.withLock { lines in
            let mayGo = look.place.withLock { place in
                guard place.hops < Self.mostHops else { return false }
                place = (line, place.hops + 1)
                return true
            }
            guard mayGo else { return nil }
            if lines[line]?.isSilent == true { return look.takeAskers() }
            lines[line, default: Line()].looks.append(look)
            disk.folderQueue(for: place).async { [self] in lookAtFirst(of: line) }
            return []
        }
        for asker in refused ?? [] { asker.resume(returning: Self.silence) }
        return refused != nil
    }

    /// A link to a link to a link on as many file systems is judged where it has come to.
    private static let mostHops = 8
    /// As many links as the kernel follows in one path (path_resolution(7)).
    private static let mostLinks = 40

    /// Follows the links in a path for as long as they stay on one file system: a link to one that
    /// hangs must not hold up those who name other folders here.
    ///
    /// - Returns: where the path leads to by a link to another file system, links behind it not
    ///   followed; nil where it stays.
    private func exit(of path: String, from device: UInt64) -> String? {
        var rest = Array(path.split(separator: "/").map(String.init).reversed())
        var (done, links) = ([String](), 0)
        while let name = rest.popLast() {
            if name == "." { continue }
            if name == ".." {
                _ = done.popLast()
                continue
            }
            let here = "/" + (done + [name]).joined(separator: "/")
            guard let target = fileSystem.target(of: here) else {
                done.append(name)
                continue
            }
            links += 1
            guard links <= Self.mostLinks else { return nil }
            if target.hasPrefix("/") { done = [] }
            rest += target.split(separator: "/").map(String.init).reversed()
            let place = "/" + (done + rest.reversed()).joined(separator: "/")
            guard disk.fileSystem(of: place) == device else { return place }
        }
        return nil
    }
}
