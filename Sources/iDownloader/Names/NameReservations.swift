// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import iDownState

/// Which task has which name in which folder, so that tasks which race for one get two.
///
/// Names are compared without regard to case: on FAT, NTFS and folded ext4 `A` and `a` are one.
package final class NameReservations: Sendable {
    private struct Place: Hashable {
        let directory: String
        /// In small letters; Swift's strings are equal by canonical equivalence.
        let name: String

        init(_ directory: String, _ name: String) {
            self.directory = directory
            self.name = name.lowercased()
        }
    }

    private struct Table {
        /// The final names and the partial ones.
        var owners: [Place: TaskID] = [:]
        var places: [TaskID: Set<Place>] = [:]

        /// Adds to what the task has; nil where another task has one of them, else what is new.
        mutating func take(_ wanted: Set<Place>, for task: TaskID) -> Set<Place>? {
            let added = wanted.filter { owners[$0] != task }
            guard added.allSatisfy({ owners[$0] == nil }) else { return nil }
            for place in added { owners[place] = task }
            places[task, default: []].formUnion(added)
            return added
        }

        /// Takes from the task all of these.
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

    /// Reserves what the record says, at the start of the service; the task had it before.
    ///
    /// Where two records claim one name, as none of ours do, the first keeps it.
    package func restore(_ name: String, in directory: String, for task: TaskID) {
        let wanted = Self.places(name, directory)
        table.withLock { table in
            guard table.take(wanted, for: task) != nil else { return }
            table.keep(only: wanted, of: task)
        }
    }

    /// Gives back what the task has.
    package func release(_ task: TaskID) {
        table.withLock { $0.keep(only: [], of: task) }
    }

    /// Reserves this very name; false where it is taken.
    ///
    /// What the task had before is given back with success only.
    ///
    /// - Parameters:
    ///   - name: the final name.
    ///   - folder: where the file is to stand.
    ///   - task: the new owner.
    ///   - own: the task's file, which does not count as standing in the way.
    /// - Returns: whether the name is the task's now.
    /// - Throws: what the file system says to a look at the name.
    package func reserve(
        exactly name: String,
        in folder: OpenFolder,
        for task: TaskID,
        own: LocalFile? = nil
    ) throws(FileError) -> Bool {
        let wanted = Self.places(name, folder.path)
        // The table is held for a moment only and the disk is asked outside of it: a network
        // folder that hangs must not hold up the others. So the name is taken on trial.
        guard let added = table.withLock({ $0.take(wanted, for: task) }) else { return false }
        do throws(FileError) {
            guard try Self.isFree(name, folder, own),
                try Self.isFree(name + LocalFile.partSuffix, folder, own)
            else {
                table.withLock { $0.drop(added, of: task) }
                return false
            }
        } catch {
            table.withLock { $0.drop(added, of: task) }
            throw error
        }
        table.withLock { $0.keep(only: wanted, of: task) }
        return true
    }

    /// Reserves the first free name of a row.
    ///
    /// The row is `name`, `name (1)`, `name (2)` and so on.
    ///
    /// - Throws: what the file system says to a look at a name: `isNameRefused` calls for a name
    ///   without special characters.
    package func reserve(
        _ name: FileName,
        in folder: OpenFolder,
        for task: TaskID,
        own: LocalFile? = nil
    ) throws(FileError) -> FileName {
        func take(_ number: Int) throws(FileError) -> FileName? {
            let candidate = name.numbered(number, limit: folder.nameLimit)
            let isOurs = try reserve(exactly: candidate.text, in: folder, for: task, own: own)
            return isOurs ? candidate : nil
        }
        var number = 0
        while number <= Self.linearTries {
            if let found = try take(number) { return found }
            number += 1
        }
        // So many of one name come from a script, in thousands: look for the end of the row by
        // doubling, then halve the last stretch. A gap within the row may stay unused.
        var taken = Self.linearTries
        while taken < Self.highestNumber {
            if let found = try take(taken * 2) {
                return try halve(found, from: taken, to: taken * 2, take)
            }
            taken *= 2
        }
        throw .nameTaken
    }

    private func halve(
        _ found: FileName,
        from taken: Int,
        to free: Int,
        _ take: (Int) throws(FileError) -> FileName?
    ) throws(FileError) -> FileName {
        var best = found
        var taken = taken
        var free = free
        while free - taken > 1 {
            let middle = taken + (free - taken) / 2
            if let lower = try take(middle) {
                best = lower
                free = middle
            } else {
                taken = middle
            }
        }
        return best
    }

    /// As far as people look; beyond, speed counts.
    private static let linearTries = 100
    /// More than the tasks that the service takes (contract: 1,000,000).
    private static let highestNumber = 10_000_000

    private static func places(_ name: String, _ directory: String) -> Set<Place> {
        [Place(directory, name), Place(directory, name + LocalFile.partSuffix)]
    }

    private static func isFree(
        _ name: String,
        _ folder: OpenFolder,
        _ own: LocalFile?
    ) throws(FileError) -> Bool {
        guard let status = try folder.status(of: name) else { return true }
        return own.map { folder.isRecorded(status, as: $0) } ?? false
    }
}
