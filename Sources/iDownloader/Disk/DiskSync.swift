// SPDX-License-Identifier: Apache-2.0

/// One sync to the disk.
package enum DiskSync: Sendable {
    /// A file with its permissions and attributes.
    case file(PartFile)
    /// The names in a folder.
    case folder(OpenFolder)

    /// The identity of the folder: one sync serves all jobs in one folder.
    ///
    /// Nil for a file, which no other job syncs.
    var folder: FileIdentity? {
        guard case .folder(let folder) = self else { return nil }
        return try? folder.identity()
    }

    /// Syncs; returns why that failed, or nil once the change is durable.
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
