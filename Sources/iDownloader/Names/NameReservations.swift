// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import iDownState

/// Records which task uses which name in which folder, so that no two tasks get the same name.
///
/// Case is ignored, because `A` and `a` are one name on FAT, NTFS and case-folded ext4.
package final class NameReservations: Sendable {
    private struct Place: Hashable {
        let directory: String
        /// The name in lower case; Swift compares strings by canonical equivalence.
        let name: String

        init(_ directory: String, _ name: String) {
            self.directory = directory
            self.name = name.lowercased()
        }
    }

    private struct Table {
        /// The task of each final name and each partial name.
        var owners: [Place: TaskID] = [:]
        var places: [TaskID: Set<Place>] = [:]

        /// Gives places to a task and returns the new ones; nil if another task has one of the
        /// places.
        mutating func take(_ wanted: Set<Place>, for task: TaskID) -> Set<Place>? {
            let added = wanted.filter { owners[$0] != task }
            guard added.allSatisfy({ owners[$0] == nil }) else { return nil }
            for place in added { owners[place] = task }
            places[task, default: []].formUnion(added)
            return added
        }

        /// Takes places from a task.
        mutating func drop(_ unwanted: Set<Place>, of task: TaskID) {
            for place in unwanted where owners[place] == task { owners[place] = nil }
            let rest = places[task]?.subtracting(unwanted) ?? []
            places[task] = rest.isEmpty ? nil : rest
        }

        mutating func keep(only wanted: Set<Place>, of task: TaskID) {
            drop((places[task] ?? []).subtracting(wanted), of: task)
        }
    }

    private let table = Mutex(Table())

    package init() {}

    /// Reserves the recorded name of a task when the service starts.
    ///
    /// If two records claim one name, which idown never writes, the first keeps it.
    package func restore(_ name: String, in directory: String, for task: TaskID) {
        let wanted = Self.places(name, directory)
        table.withLock { table in
            guard table.take(wanted, for: task) != nil else { return }
            table.keep(only: wanted, of: task)
        }
    }

    /// Releases all names of a task.
    package func release(_ task: TaskID) { table.withLock { $0.keep(only: [], of: task) } }

    /// Reserves exactly this name; returns false if the name is taken.
    ///
    /// On success, the earlier names of the task are released.
    ///
    /// - Parameters:
    ///   - name: the final name.
    ///   - folder: the folder for the file.
    ///   - task: the new owner.
    ///   - own: the task's file, which may already have the name.
    /// - Returns: whether the task now has the name.
    /// - Throws: the error of the file system if the name could not be looked up.
    package func reserve(
        exactly name: String,
        in folder: OpenFolder,
        for task: TaskID,
        own: LocalFile? = nil
    ) throws(FileError) -> Bool {
        let wanted = Self.places(name, folder.path)
        // The name is reserved first and released if a file has it. The disk is asked without the
        // lock, because a network folder that hangs must not block other tasks.
        guard let added = table.withLock({ $0.take(wanted, for: task) }) else { return false }
        let isFree = Result { () throws(FileError) in try Self.isFree(name, folder, own) }
        table.withLock { table in
            if case .success(true) = isFree {
                table.keep(only: wanted, of: task)
            } else {
                table.drop(added, of: task)
            }
        }
        return try isFree.get()
    }

    /// Reserves the first free name of a series.
    ///
    /// The series is `name`, `name (1)`, `name (2)` and so on; without `mayRename` it is `name`
    /// alone.
    ///
    /// - Throws: `nameTaken` if no name is free; the error of the file system if a name could not
    ///   be looked up. After `isNameRefused`, the caller tries a name without special characters.
    package func reserve(
        _ name: FileName,
        in folder: OpenFolder,
        for task: TaskID,
        own: LocalFile? = nil,
        mayRename: Bool = true
    ) throws(FileError) -> FileName {
        func take(_ number: Int) throws(FileError) -> FileName? {
            let candidate = name.numbered(number, limit: folder.nameLimit)
            let isOurs = try reserve(exactly: candidate.text, in: folder, for: task, own: own)
            return isOurs ? candidate : nil
        }
        for number in 0...Self.linearTries {
            if let found = try take(number) { return found }
            guard mayRename else { throw .nameTaken }
        }
        // So many files of one name come from a script, perhaps thousands. So double the number
        // until a name is free, then bisect the last interval. A gap in the series may stay unused.
        var taken = Self.linearTries
        while taken < Self.highestNumber {
            var free = taken * 2
            guard var best = try take(free) else {
                taken = free
                continue
            }
            while free - taken > 1 {
                let middle = taken + (free - taken) / 2
                if let lower = try take(middle) {
                    (best, free) = (lower, middle)
                } else {
                    taken = middle
                }
            }
            return best
        }
        throw .nameTaken
    }

    /// The numbers that are tried one by one, so that people see no gaps; beyond, speed matters
    /// more.
    private static let linearTries = 100
    /// The highest number; more than the tasks that the service accepts (contract: 1,000,000).
    private static let highestNumber = 10_000_000

    private static func places(_ name: String, _ directory: String) -> Set<Place> {
        [Place(directory, name), Place(directory, name + LocalFile.partSuffix)]
    }

    /// Whether no file but `own` has this name, and none has it as its partial name.
    static func isFree(
        _ name: String,
        _ folder: OpenFolder,
        _ own: LocalFile?
    ) throws(FileError) -> Bool {
        for entry in [name, name + LocalFile.partSuffix] {
            guard let status = try folder.status(of: entry) else { continue }
            guard let own, folder.isRecorded(status, as: own) else { return false }
        }
        return true
    }
}
