// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// Checks and makes the folders that clients name, one at a time for each file system.
///
/// A call for the same folder as the last look in the queue, which has not begun yet, shares that
/// look. So a thousand calls that arrive together cost a few looks, no answer is older than its
/// call, and calls are answered in order. If a file system does not answer in time, its waiting
/// calls fail, and later ones fail immediately until it answers.
final class FolderLooks: Sendable {
    private typealias Answer = Result<String, FolderRefusal>

    private final class Look: Sendable {
        let path: String
        let rules: FolderRules
        /// The line (file system) in which the look waits, and the number of lines that it waited
        /// in before.
        let place: Mutex<(line: UInt64, hops: Int)>
        /// The calls that wait for this look; empty once they were answered.
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

        /// Returns the calls to answer and forgets them, so that each is answered once.
        func takeAskers() -> [CheckedContinuation<Answer, Never>] {
            askers.withLock { askers in
                defer { askers = [] }
                return askers
            }
        }
    }

    private struct Line {
        var looks: [Look] = []
        /// Whether the file system did not answer in time and has not answered since.
        var isSilent = false
    }

    private let disk: DiskQueue
    private let fileSystem: FileSystem
    private let longestWait: Duration
    private let closed: ClosedFolders
    /// The queue of each file system, by device number.
    private let lines = Mutex<[UInt64: Line]>([:])

    /// - Parameters:
    ///   - disk: the threads on which folders are looked at, and which a hanging folder may block.
    ///   - fileSystem: makes the system calls.
    ///   - longestWait: the longest time that a call waits for an answer.
    init(
        on disk: DiskQueue,
        fileSystem: FileSystem,
        longestWait: Duration = .seconds(2)
    ) {
        self.disk = disk
        self.fileSystem = fileSystem
        self.longestWait = longestWait
        closed = ClosedFolders(fileSystem: fileSystem, longestWait: longestWait / 2)
    }

    /// Checks a folder, makes it if it is missing, and returns its path with links resolved.
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
        // No call waits for this folder any more.
        guard let look, look.isAwaited else { return }
        if let place = exit(of: look.path, from: line), handOn(look, to: place) { return }
        let answer = Answer { () throws(FolderRefusal) in
            let folder = try TargetFolder(
                look.path,
                rules: look.rules,
                closed: closed,
                fileSystem: fileSystem
            )
            try folder.make(fileSystem: fileSystem)
            return folder.path
        }
        let askers = lines.withLock { lines in
            lines[line]?.isSilent = false
            return look.takeAskers()
        }
        for asker in askers { asker.resume(returning: answer) }
    }

    /// Moves a look to the queue of the file system that its path leads to.
    ///
    /// - Returns: false if the look was moved too often.
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

    /// The most file systems that a look is moved to by links; then it is made where it is.
    private static let mostHops = 8
    /// The most links followed in one path, as in the kernel (path_resolution(7)).
    private static let mostLinks = 40

    /// Returns where the links of a path lead to another file system; nil if the path stays on this
    /// one.
    ///
    /// The look then moves there, because a file system that hangs must not delay looks at other
    /// folders on this one. Links behind the returned path are not followed.
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
