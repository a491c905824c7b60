// SPDX-License-Identifier: Apache-2.0

import iDownState

// A full disk is no failed try: the bytes wait until there is room.
extension Transfer {
    /// Makes sure that the rest of the file fits, and the reserve beside it.
    ///
    /// - Parameters:
    ///   - total: the whole file; nil where nobody knows, and the reserve alone has to do.
    ///   - kept: the bytes that are on disk already.
    /// - Throws: a failure that says how much is needed.
    func checkSpace(for total: Int64?, keeping kept: Int64) async throws(TransferEnd) {
        let folder = try await openedFolder()
        // What an earlier attempt reserved for this file is not free, and not missing either.
        let part = part
        let (free, allocated) = try await onDisk { () throws(FileError) in
            (try folder.freeBytes(), try part?.allocatedBytes() ?? 0)
        }
        let missing = max(0, (total ?? 0) - max(kept, allocated))
        // One that is complete, or has its place already, takes nothing away from anybody.
        if total != nil, missing == 0 { return }
        try Self.check(free, for: missing)
    }

    /// Makes sure that what is missing fits into what is free, and the reserve beside it.
    static func check(_ free: Int64, for missing: Int64) throws(TransferEnd) {
        let needed = missing.addingCapped(SpacePolicy.reserve)
        guard free < needed else { return }
        throw .failed(
            Failure(
                .fileNoSpace,
                "The disk has \(free) bytes free, but \(missing) are still to come. Make room.",
                neededSpace: needed
            )
        )
    }

    /// Says of a disk that refused how much must be free before it is worth another try.
    ///
    /// Where there is room for all that is to come, room is not what is missing, or not for this
    /// user: a quota tells nobody when it has some again, so it is a failed try like others.
    func measuringNeed(_ failure: Failure) async -> Failure {
        guard failure.neededSpace == 0 else { return failure }
        var failure = failure
        // A small file that came at once has failed before anybody kept its folder.
        let (part, folder) = (part, try? await openedFolder())
        let looked = try? await onDisk { () throws(FileError) in
            (free: try folder?.freeBytes(), allocated: try part?.allocatedBytes())
        }
        let there = max(stored.byteCount, looked?.allocated ?? 0)
        let missing = max(0, (known.total ?? there) - there)
        let needed = missing.addingCapped(SpacePolicy.reserve)
        if let free = looked?.free, free >= needed {
            failure.neededSpace = nil
            failure.isTransient = true
            failure.message += " The disk shows \(free) free bytes, though."
        } else {
            failure.neededSpace = needed
        }
        return failure
    }
}

extension Int64 {
    fileprivate func addingCapped(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
