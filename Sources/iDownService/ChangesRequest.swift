// SPDX-License-Identifier: Apache-2.0

import iDownBus
import iDownData
import iDownState

/// One page of the changes since a serial.
struct ChangesPage: Sendable {
    /// The newest serial; the changes up to it are complete once `next` is empty.
    let serial: UInt64
    /// The place of the next page, for the next query; empty on the last page.
    let next: String
    /// The tasks that changed, in the order of their last changes.
    let tasks: TaskListing
    /// The ids of the tasks that were removed; only on the last page.
    let removed: [String]
}

/// One page of what changed in the list after a serial: a call of GetChangesSince.
struct ChangesRequest: Sendable {
    let since: Int64
    /// The id of the list that the serial belongs to; nil means this list.
    let list: String?
    /// The most tasks on the page.
    let limit: Int
    private let start: PageStart

    /// Reads what a client asks for.
    ///
    /// - Throws: `InvalidOption` for a `next` that no answer gave for this serial.
    init(since serial: UInt64, _ query: ChangesQuery) throws(ManagerError) {
        since = Int64(clamping: serial)
        list = query.list
        let limit = query.limit ?? 0
        self.limit = Int(limit == 0 ? Contract.pageOfTasks : limit)
        guard let next = query.next, !next.isEmpty else {
            start = PageStart(place: ChangePlace(serial: since), begin: nil)
            return
        }
        guard let given = PageStart(next), given.place.serial >= since else {
            throw ChangesQuery.foreignPlace
        }
        start = given
    }

    /// Reads the page.
    ///
    /// - Parameters:
    ///   - snapshot: the list.
    ///   - listing: the listing to which the first task is added.
    ///   - take: adds a task, as the caller sees it.
    /// - Returns: the page.
    /// - Throws: `LimitExceeded` where the changes are not known any more; what `take` throws;
    ///   `StoreFailure`.
    func page(
        of snapshot: Snapshot,
        into listing: TaskListing,
        _ take: (inout TaskListing, TaskRecord) throws -> Void
    ) throws -> ChangesPage {
        let position = try snapshot.position()
        // A task that is removed while a client reads pages of the whole list is on none of the
        // later ones.
        let begin = start.begin ?? position.serial
        let removedSince = since == 0 ? begin : since
        guard list ?? position.list == position.list || since == 0,
            try snapshot.knowsRemovals(since: since),
            try snapshot.knowsRemovals(since: removedSince)
        else { throw ManagerError.unknownSerial }
        var listing = listing
        var last: ChangePlace?
        var isWhole = true
        try snapshot.forEachTask(changedAfter: start.place) { record in
            guard listing.count < limit, listing.byteCount < Contract.pageOfChanges else {
                isWhole = false
                return false
            }
            try take(&listing, record)
            last = ChangePlace(serial: record.serial, id: record.id.rawValue)
            return true
        }
        let next = last.map { PageStart(place: $0, begin: begin).description } ?? ""
        return ChangesPage(
            serial: UInt64(clamping: position.serial),
            next: isWhole ? "" : next,
            tasks: listing,
            removed: isWhole
                ? try snapshot.removals(since: removedSince).map(\.description) : []
        )
    }
}

/// Where a page begins, in the form of `next`: serial, id, and the serial of the list when the
/// first page was made.
private struct PageStart: Sendable {
    let place: ChangePlace
    /// The serial of the list when the first page was made; nil for the first page.
    let begin: Int64?
}

extension PageStart: CustomStringConvertible {
    init?(_ text: String) {
        let numbers = text.split(separator: ".", omittingEmptySubsequences: false)
        guard numbers.count == 3, let serial = Int64(numbers[0]), serial >= 0,
            let id = TaskID(String(numbers[1])), let begin = Int64(numbers[2]), begin >= 0
        else { return nil }
        self.init(place: ChangePlace(serial: serial, id: id.rawValue), begin: begin)
    }

    var description: String { "\(place.serial).\(place.id).\(begin ?? 0)" }
}

extension ManagerError {
    fileprivate static let unknownSerial = ManagerError(
        .limitExceeded,
        "What has changed since this serial is not known any more. Ask for the changes since 0."
    )
}
