// SPDX-License-Identifier: Apache-2.0

package import DBus
package import iDownBus
import iDownData
import iDownState

// For clients that follow the list.
extension ManagerService {
    package var position: (list: String, serial: UInt64) {
        get async throws {
            let position = try await coordinator.position()
            return (position.list, UInt64(clamping: position.serial))
        }
    }

    package func watchObjects(_ call: Call) async {
        guard let client = call.sender else { return }
        await announcer.watch(for: client, over: call.connection)
    }

    package func unwatchObjects(_ call: Call) async {
        if let client = call.sender { await announcer.unwatch(for: client) }
    }

    package func changes(
        _ call: Call,
        since serial: UInt64,
        _ query: ChangesQuery
    ) async throws -> ChangesPage {
        let since = Int64(clamping: serial)
        var start = PageStart(place: ChangePlace(serial: since), begin: nil)
        if let next = query.next, !next.isEmpty {
            guard let given = PageStart(next), given.place.serial >= since else {
                throw ChangesQuery.foreignPlace
            }
            start = given
        }
        let limit = query.limit ?? 0
        return try await listing(call, of: query.properties) { [start] list, take in
            try await coordinator.changes(
                since: since,
                of: query.list,
                after: start,
                limit: Int(limit == 0 ? Contract.pageOfTasks : limit),
                into: list,
                take
            )
        }
    }
}

extension Coordinator {
    /// Which list this is, and its newest serial.
    func position() async throws -> ListPosition {
        try await store.readNow { snapshot throws(StoreFailure) in try snapshot.position() }
    }

    /// One page of what changed after a serial.
    ///
    /// - Parameters:
    ///   - since: the serial.
    ///   - list: the list that it belongs to; nil is this one.
    ///   - start: where the page begins.
    ///   - limit: the most tasks.
    ///   - listing: what the first task is added to.
    ///   - take: adds one, as the caller sees it.
    /// - Returns: the page.
    /// - Throws: `LimitExceeded` where nobody knows what changed; `StoreFailure`.
    func changes(
        since: Int64,
        of list: String?,
        after start: PageStart,
        limit: Int,
        into listing: TaskListing,
        _ take: @escaping @Sendable (inout TaskListing, TaskSnapshot) throws -> Void
    ) async throws -> ChangesPage {
        let live = verifications.view(over: slots.view)
        let page = try await store.read {
            snapshot throws(StoreFailure) -> Result<ChangesPage, any Error> in
            let position = try snapshot.position()
            // What was removed while pages of the whole list are read is on none of them.
            let begin = start.begin ?? position.serial
            let removedSince = since == 0 ? begin : since
            guard list ?? position.list == position.list || since == 0,
                try snapshot.knowsRemovals(since: since),
                try snapshot.knowsRemovals(since: removedSince)
            else { return .failure(ManagerError.unknownSerial) }
            var listing = listing
            var last: ChangePlace?
            var isWhole = true
            var failure: (any Error)?
            try snapshot.forEachTask(changedAfter: start.place) { record in
                guard listing.count < limit, listing.byteCount < Contract.pageOfChanges else {
                    isWhole = false
                    return false
                }
                do {
                    try take(&listing, live(record))
                } catch {
                    failure = error
                    return false
                }
                last = ChangePlace(serial: record.serial, id: record.id.rawValue)
                return true
            }
            if let failure { return .failure(failure) }
            let removed = isWhole ? try snapshot.removals(since: removedSince) : []
            let next = last.map { PageStart(place: $0, begin: begin).description }
            return .success(
                ChangesPage(
                    serial: UInt64(clamping: position.serial),
                    next: isWhole ? "" : next ?? "",
                    tasks: listing,
                    removed: removed.map(\.description)
                )
            )
        }
        return try page.get()
    }
}

extension ManagerError {
    fileprivate static let unknownSerial = ManagerError(
        .limitExceeded,
        "What has changed since this serial is not known any more. Ask for the changes since 0."
    )
}

/// Where a page begins, as clients pass it on in `next`: serial, id, and the serial of the list when
/// the first page was made.
struct PageStart: Sendable, CustomStringConvertible {
    let place: ChangePlace
    /// Nil for the first page.
    let begin: Int64?

    init(place: ChangePlace, begin: Int64?) {
        self.place = place
        self.begin = begin
    }

    fileprivate init?(_ text: String) {
        let numbers = text.split(separator: ".", omittingEmptySubsequences: false)
        guard numbers.count == 3, let serial = Int64(numbers[0]), serial >= 0,
            let id = TaskID(String(numbers[1])), let begin = Int64(numbers[2]), begin >= 0
        else { return nil }
        self.init(place: ChangePlace(serial: serial, id: id.rawValue), begin: begin)
    }

    var description: String { "\(place.serial).\(place.id).\(begin ?? 0)" }
}
