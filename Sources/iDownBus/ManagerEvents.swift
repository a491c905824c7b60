// SPDX-License-Identifier: Apache-2.0

public import DBus

/// The service's signals about tasks, in the order in which they were sent; one task may iterate.
///
/// A signal about many tasks becomes one event for each of them. The sequence continues after a
/// restart of the service and ends with the connection. Signals that this version does not know are
/// skipped.
public struct ManagerEvents: AsyncSequence, Sendable {
    /// The error that iterating can throw.
    public typealias Failure = ManagerError

    let signals: SignalSequence<ManagerNews>
    let client: ManagerClient

    /// Creates an iterator.
    public func makeAsyncIterator() -> Iterator {
        Iterator(signals: signals.makeAsyncIterator(), client: client)
    }

    /// An iterator.
    public struct Iterator: AsyncIteratorProtocol {
        var signals: SignalSequence<ManagerNews>.Iterator
        let client: ManagerClient
        /// The events of the last signal that were not read yet.
        var rest: ArraySlice<ManagerEvent> = []

        /// Returns the next event; nil at the end.
        ///
        /// - Throws: `LimitsExceeded` if too many signals were waiting to be read; the errors of
        ///   ``ManagerClient/changes(since:of:properties:)``, which events of many added tasks
        ///   need.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ManagerError) -> ManagerEvent? {
            while rest.isEmpty {
                let news: ManagerNews?
                do throws(BusError) {
                    news = try await signals.next(isolation: actor)
                } catch {
                    throw ManagerError(error)
                }
                guard let news else { return nil }
                rest = try await events(of: news)[...]
            }
            return rest.removeFirst()
        }

        /// Returns the next event; nil at the end.
        public mutating func next() async throws(ManagerError) -> ManagerEvent? {
            try await next(isolation: nil)
        }

        private func events(of news: ManagerNews) async throws(ManagerError) -> [ManagerEvent] {
            switch news {
            case .one(let event): return [event]
            case .changed(let ids, let state, let common):
                return ids.map { .changed(id: $0, state: state, changed: common) }
            case .removed(let ids): return ids.map { .removed(id: $0) }
            case .added(let ids, let serial):
                let added = Set(ids)
                // The changes since the commit before this one contain all tasks that this one
                // added.
                let changes: ListChanges
                do throws(ManagerError) {
                    changes = try await client.changes(since: Swift.max(1, serial) - 1)
                } catch  where error.code == .limitExceeded {
                    // The list has been replaced meanwhile.
                    return []
                }
                return changes.tasks.filter { added.contains($0.id) }.map { .added($0) }
            }
        }
    }
}

/// The contents of one signal.
enum ManagerNews: Sendable {
    case one(ManagerEvent)
    case added([String], serial: UInt64)
    case changed([String], TaskProperties.State, [String: Value])
    case removed([String])

    /// The news for a list; nil for added tasks, whose names and URLs the signal does not contain.
    var ofList: ListNews? {
        switch self {
        case .one(let event): .event(event)
        case .changed(let ids, let state, let common): .changed(ids, state, common)
        case .removed(let ids): .removed(ids)
        case .added: nil
        }
    }

    /// Reads a signal; nil for one that this version does not know.
    init?(_ signal: SignalMessage) {
        typealias Known = Contract.Signal
        if let event = ManagerEvent(signal) {
            self = .one(event)
        } else if let (ids, state, common, _) = Known.tasksChanged.contents(of: signal) {
            self = .changed(ids, state, common)
        } else if let (ids, _) = Known.tasksRemoved.contents(of: signal) {
            self = .removed(ids)
        } else if let (ids, _, serial) = Known.tasksAdded.contents(of: signal) {
            self = .added(ids, serial: serial)
        } else {
            return nil
        }
    }
}

/// A signal of the service about one task.
public enum ManagerEvent: Hashable, Sendable {
    /// A task was added to the list. Its URL and its referrer have no query.
    case added(TaskProperties)
    /// A task changed: its new state, and the changed properties with their new values.
    ///
    /// ``TaskProperties/applying(_:)`` applies these values to a known task.
    case changed(id: String, state: TaskProperties.State, changed: [String: Value])
    /// A task was removed from the list.
    case removed(id: String)

    /// The id of the task.
    public var id: String {
        switch self {
        case .added(let task): task.id
        case .changed(let id, _, _): id
        case .removed(let id): id
        }
    }
}

extension ManagerEvent {
    /// Reads a signal; nil for one that this version does not know.
    package init?(_ signal: SignalMessage) {
        typealias Known = Contract.Signal
        if let (id, state, changed) = Known.taskChanged.contents(of: signal) {
            self = .changed(id: id, state: state, changed: changed)
        } else if let (id, properties) = Known.taskAdded.contents(of: signal) {
            var task = properties
            task.id = id
            self = .added(task)
        } else if let id = Known.taskRemoved.contents(of: signal) {
            self = .removed(id: id)
        } else {
            return nil
        }
    }
}
