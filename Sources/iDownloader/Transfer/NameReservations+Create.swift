// SPDX-License-Identifier: Apache-2.0

import iDownState

extension NameReservations {
    /// Reserves a free name and makes the partial file, which appears under it later.
    ///
    /// - Parameters:
    ///   - name: the one that is wanted.
    ///   - folder: where the file is to stand.
    ///   - task: its owner.
    ///   - mayRename: whether `name (1)` will do where `name` is taken.
    /// - Returns: the empty file.
    /// - Throws: `nameTaken` where it is and no other will do.
    func create(
        _ name: FileName,
        in folder: OpenFolder,
        for task: TaskID,
        mayRename: Bool
    ) throws(FileError) -> PartFile {
        // Between the look at a name and the making of the file somebody else may take it.
        for _ in 0..<100 {
            var free = name
            if mayRename {
                free = try reserve(name, in: folder, for: task)
            } else if try !reserve(exactly: name.text, in: folder, for: task) {
                throw .nameTaken
            }
            do throws(FileError) {
                return try PartFile.createUnnamed(free.text, in: folder)
            } catch {
                guard case .nameTaken = error, mayRename else { throw error }
            }
        }
        throw .nameTaken
    }

    /// Has the file appear under its name, or reserves the next one where somebody was faster.
    ///
    /// - Returns: nil once it has appeared; else the file, or another in its place, with the name
    ///   that is now in view, to be recorded before the next try.
    /// - Throws: `nameTaken` where no other name will do.
    func appear(
        _ part: PartFile,
        for task: TaskID,
        mayRename: Bool
    ) throws(FileError) -> PartFile? {
        do throws(FileError) {
            return try part.appear()
        } catch {
            guard case .nameTaken = error, mayRename else { throw error }
            let name = FileName(trusted: part.file.name)
            return part.named(try reserve(name, in: part.folder, for: task).text)
        }
    }
}
