// SPDX-License-Identifier: Apache-2.0

import DBus
import iDownState

/// Objects of new tasks that are still to be shown: InterfacesAdded comes behind TaskAdded, and
/// while calls pour in behind their answers too.
///
/// A signal costs the bus as much as a call and its answer.
struct UnshownObjects {
    /// So long may the first of them wait.
    static let longestWait: Duration = .milliseconds(250)

    private var waiting: [(id: TaskID, object: ManagedObject)] = []
    /// How many of them have been taken.
    private var taken = 0
    private var deadline: ContinuousClock.Instant?

    var isEmpty: Bool { taken == waiting.count }

    /// Whether the first of them has waited long enough.
    func areDue(at now: ContinuousClock.Instant) -> Bool {
        deadline.map { $0 <= now } ?? false
    }

    mutating func append(
        _ object: ManagedObject,
        of id: TaskID,
        at now: ContinuousClock.Instant
    ) {
        if isEmpty { deadline = now + Self.longestWait }
        waiting.append((id, object))
    }

    mutating func takeFirst() -> ManagedObject? {
        guard !isEmpty else { return nil }
        defer {
            taken += 1
            if taken == waiting.count { self = UnshownObjects() }
        }
        return waiting[taken].object
    }

    /// Takes the object of one task out; nil where it does not wait.
    mutating func take(_ id: TaskID) -> ManagedObject? {
        guard let place = waiting[taken...].firstIndex(where: { $0.id == id }) else { return nil }
        return waiting.remove(at: place).object
    }
}
