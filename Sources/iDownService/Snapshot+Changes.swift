// SPDX-License-Identifier: Apache-2.0

import iDownBus
import iDownData
import iDownState

/// One page of the changes since a serial, an answer of GetChangesSince.
///
/// The changes up to `serial` are complete once `next`, the place of the next page, is empty. The
/// tasks are in the order of their last changes; the ids of removed ones are on the last page only.
typealias ChangesPage = (serial: UInt64, next: String, tasks: TaskListing, removed: [String])

extension Snapshot {
    /// Reads one page of what changed in the list after a serial.
    ///
    /// - Parameters:
    ///   - serial: the serial.
    ///   - query: what the client asks for.
    ///   - view: returns a task as the caller sees it.
    /// - Returns: the page.
    /// - Throws: `InvalidOption` for a `next` that no answer gave for this serial; `LimitExceeded`
    ///   where the changes are not known any more; `StoreFailure`.
    func changes(
        since serial: UInt64,
        _ query: ChangesQuery,
        _ view: (TaskRecord) -> TaskProperties
    ) throws -> ChangesPage {
        let since = Int64(clamping: serial)
        let now = try position()
        let start = try Self.start(of: query, since: since)
        // A task that is removed while a client reads pages of the whole list is on none of the
        // later ones.
        let begin = start?.begin ?? now.serial
        let removedSince = since == 0 ? begin : since
        guard query.list ?? now.list == now.list || since == 0, try knowsRemovals(since: since),
            try knowsRemovals(since: removedSince)
        else {
            throw ManagerError(
                .limitExceeded,
                "What has changed since this serial is not known any more. Ask for the changes"
                    + " since 0."
            )
        }
        let limit = query.limit ?? 0
        let most = Int(limit == 0 ? Contract.pageOfTasks : limit)
        var listing = TaskListing(of: query.properties)
        var next = ""
        var isWhole = true
        try forEachTask(changedAfter: start?.place ?? ChangePlace(serial: since)) { record in
            guard listing.count < most, listing.byteCount < Contract.pageOfChanges else {
                isWhole = false
                return false
            }
            try listing.append(view(record))
            next = "\(record.serial).\(record.id.rawValue).\(begin)"
            return true
        }
        let removed = isWhole ? try removals(since: removedSince).map(\.description) : []
        // Many ids of removed tasks get a page of their own; one takes 12 bytes.
        let hasRoom = listing.byteCount + 12 * removed.count <= Contract.pageOfChanges
        let isLast = isWhole && (hasRoom || next.isEmpty)
        return (UInt64(clamping: now.serial), isLast ? "" : next, listing, isLast ? removed : [])
    }

    /// Reads where a page begins; nil for the first page.
    ///
    /// `next` consists of serial, id, and the serial of the list when the first page was made.
    private static func start(
        of query: ChangesQuery,
        since: Int64
    ) throws(ManagerError) -> (place: ChangePlace, begin: Int64)? {
        guard let next = query.next, !next.isEmpty else { return nil }
        let numbers = next.split(separator: ".", omittingEmptySubsequences: false)
        guard numbers.count == 3, let serial = Int64(numbers[0]), serial >= since,
            let id = TaskID(String(numbers[1])), let begin = Int64(numbers[2]), begin >= 0
        else { throw ChangesQuery.foreignPlace }
        return (ChangePlace(serial: serial, id: id.rawValue), begin)
    }
}
