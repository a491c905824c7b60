// SPDX-License-Identifier: Apache-2.0

package import DBus
package import iDownBus
import iDownData
import iDownState

// For clients that follow the list.
extension ManagerService {
    package var position: (list: String, serial: UInt64) {
        get async throws(ManagerError) {
            try await named {
                let position = try await coordinator.position()
                return (position.list, UInt64(clamping: position.serial))
            }
        }
    }

    package func watchObjects(call: Call) async {
        guard let client = call.sender else { return }
        await announcer.watch(for: client, over: call.connection)
    }

    package func unwatchObjects(call: Call) async {
        if let client = call.sender { await announcer.unwatch(for: client) }
    }

    package func changes(
        since serial: UInt64,
        _ query: ChangesQuery,
        call: Call
    ) async throws(ManagerError) -> ChangesPage {
        try await named {
            let since = Int64(clamping: serial)
            var first = ChangePlace(serial: since)
            if let next = query.next, !next.isEmpty {
                guard let place = ChangePlace(next), place.serial >= since else {
                    throw ChangesQuery.foreignPlace
                }
                first = place
            }
            let limit = query.limit ?? 0
            let view = await view(for: call)
            return try await inTurn(call) {
                try await coordinator.changes(
                    since: since,
                    of: query.list,
                    after: first,
                    limit: Int(limit == 0 ? Contract.pageOfTasks : limit),
                    into: TaskListing(of: query.properties)
                ) { view($0) }
            }
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
    ///   - place: where the page begins.
    ///   - limit: the most tasks.
    ///   - listing: what the first task is added to.
    ///   - view: how the caller sees a task.
    /// - Returns: the page.
    /// - Throws: `LimitExceeded` where nobody knows what changed; `StoreFailure`.
    func changes(
        since: Int64,
        of list: String?,
        after place: ChangePlace,
        limit: Int,
        into listing: TaskListing,
        _ view: @escaping @Sendable (TaskSnapshot) -> TaskProperties
    ) async throws -> ChangesPage {
        let live = slots.view
        let page = try await store.read {
            snapshot throws(StoreFailure) -> Result<ChangesPage, any Error> in
            let position = try snapshot.position()
            guard list ?? position.list == position.list || since == 0,
                try snapshot.knowsRemovals(since: since)
            else { return .failure(ManagerError.unknownSerial) }
            var listing = listing
            var last: ChangePlace?
            var isWhole = true
            var failure: (any Error)?
            try snapshot.forEachTask(changedAfter: place) { record in
                guard listing.count < limit, listing.byteCount < Contract.pageOfChanges else {
                    isWhole = false
                    return false
                }
                do {
                    try listing.append(view(live(record)))
                } catch {
                    failure = error
                    return false
                }
                last = ChangePlace(serial: record.serial, id: record.id.rawValue)
                return true
            }
            if let failure { return .failure(failure) }
            let removed = isWhole ? try snapshot.removals(since: since) : []
            return .success(
                ChangesPage(
                    serial: UInt64(clamping: position.serial),
                    next: isWhole ? "" : last?.description ?? "",
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

// The text that clients pass on as `next`: serial and id.
extension ChangePlace {
    fileprivate init?(_ text: String) {
        let numbers = text.split(separator: ".", omittingEmptySubsequences: false)
        guard numbers.count == 2, let serial = Int64(numbers[0]), serial >= 0,
            let id = TaskID(String(numbers[1]))
        else { return nil }
        self.init(serial: serial, id: id.rawValue)
    }

    fileprivate var description: String { "\(serial).\(id)" }
}
