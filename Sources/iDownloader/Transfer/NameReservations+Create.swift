// SPDX-License-Identifier: Apache-2.0

import iDownState

extension NameReservations {
    /// Gives up after this many name collisions.
    static let mostCollisions = 100

    /// Reserves a free name and makes a file for it.
    ///
    /// - Parameters:
    ///   - candidates: the name that is wanted, and shorter ones for a file system that has less
    ///     room than it says; without special characters where it knows no such names.
    ///   - folder: where the file is to stand.
    ///   - task: its owner.
    ///   - mayRename: whether `name (1)` will do where `name` is taken.
    ///   - make: makes the file, or throws `nameTaken`.
    /// - Returns: what `make` returns.
    /// - Throws: `nameTaken` where it is and no other will do.
    func create<Made>(
        _ candidates: [FileName],
        in folder: OpenFolder,
        for task: TaskID,
        mayRename: Bool,
        by make: (String) throws(FileError) -> Made
    ) throws(FileError) -> Made {
        func createExactly(_ name: FileName) throws(FileError) -> Made {
            // Another program may take a name between the look at it and the making of the file.
            for _ in 0..<Self.mostCollisions {
                let free = try reserve(name, in: folder, for: task, mayRename: mayRename)
                do throws(FileError) {
                    return try make(free.text)
                } catch {
                    guard case .nameTaken = error, mayRename else { throw error }
                }
            }
            throw .nameTaken
        }
        var refusal = FileError.nameTaken
        for name in candidates {
            do throws(FileError) {
                return try createExactly(name)
            } catch {
                guard error.isNameRefused || error.isNameTooLong else { throw error }
                refusal = error
            }
            if refusal.isNameRefused { return try createExactly(name.withoutSpecialCharacters) }
        }
        throw refusal
    }

    /// Gives the file its reserved name, or reserves the next name if another program has taken it.
    ///
    /// - Parameters:
    ///   - part: the file.
    ///   - task: its owner.
    ///   - mayRename: whether `name (1)` will do where the name is taken.
    ///   - give: gives it its name, or throws `nameTaken`; returns another in its place, or nil.
    /// - Returns: nil once it has appeared; else the file, or another in its place, with the name
    ///   that is now in view, to be recorded before the next try.
    /// - Throws: `nameTaken` where no other name will do.
    func appear(
        _ part: PartFile,
        for task: TaskID,
        mayRename: Bool,
        by give: (PartFile) throws(FileError) -> PartFile? = { part throws(FileError) in
            try part.appear()
        }
    ) throws(FileError) -> PartFile? {
        do throws(FileError) {
            return try give(part)
        } catch {
            guard case .nameTaken = error, mayRename else { throw error }
            let name = FileName(trusted: part.file.name)
            return part.named(try reserve(name, in: part.folder, for: task).text)
        }
    }
}
